#include "prime/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/cache.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "cache/sound.h"

/* So many of the newest entries show whose a cache is. */
enum { LOOKED_AT = 64, MAX_REASONS = 6 };

struct reason {
	char text[EXPLAIN_TEXT];
	size_t modules;
};

struct reasons {
	struct reason items[MAX_REASONS];
	size_t count;
};

/* Returns "535.309.01", or the build's date if the release is unknown. */
static const char *driver_name(char text[64], const char *stamp)
{
	const char *known = jw_cache_driver_of_stamp(stamp);

	(void)text_format(text, 64, known ? "%s" : "the one built on %.11s", known ? known : stamp);
	return text;
}

static const char *this_driver(char text[64], const struct plan *plan)
{
	const struct jw_driver release = {.release = {plan->profile.driver.release[0],
												  plan->profile.driver.release[1],
												  plan->profile.driver.release[2]}};
	char name[JW_DRIVER_TEXT];

	if (!release.release[0])
		return driver_name(text, plan->profile.stamp);
	(void)snprintf(text, 64, "%s", jw_driver_text(name, &release));
	return text;
}

/* Returns the stamp in an entry that a driver has compiled; "" if there is none, or if another
 * compiler has made it. */
static const char *stamp_of(char stamp[CACHE_STAMP_SIZE + 1], const char *dir, uint64_t key)
{
	char *path = cache_entry_path(dir, key);
	struct os_file *file = NULL;
	struct cache_key_parts parts;
	struct cache_brief brief;

	stamp[0] = '\0';
	if (!os_file_open(NULL, path, OS_OPEN_READ, &file) &&
		cache_brief_open(file, &brief) == CACHE_SOUND && cache_brief_split(&brief, &parts) &&
		!parts.jitlink)
		memcpy(stamp, parts.stamp, CACHE_STAMP_SIZE + 1);
	os_file_close(file);
	mem_free(path);
	return stamp;
}

/* Finds the driver that has made the newest entries, if this driver has made none of them. */
static bool find_former(const struct plan *plan, char ret_stamp[CACHE_STAMP_SIZE + 1])
{
	struct cache_index index = {0};
	char stamp[CACHE_STAMP_SIZE + 1];
	bool own = false;

	ret_stamp[0] = '\0';
	if (!plan->cache_dir || !plan->profile.stamp[0] ||
		cache_index_load(NULL, plan->cache_dir, &index))
		return false;
	for (size_t i = 0; !own && i < index.count && i < LOOKED_AT; i++) {
		(void)stamp_of(stamp, plan->cache_dir, index.rows[index.count - 1 - i].key);
		own = !strcmp(stamp, plan->profile.stamp);
		if (!*ret_stamp)
			memcpy(ret_stamp, stamp, sizeof stamp);
	}
	cache_index_free(&index);
	return !own && *ret_stamp;
}

static void absent_text(char text[EXPLAIN_TEXT], const struct plan *plan)
{
	char former[CACHE_STAMP_SIZE + 1], from[64], to[64];

	if (find_former(plan, former))
		(void)text_format(text, EXPLAIN_TEXT, "the driver has changed from %s to %s",
						  driver_name(from, former), this_driver(to, plan));
	else
		(void)text_format(text, EXPLAIN_TEXT, "never primed, or removed since");
}

/* Writes why the module's entry, which is in the cache or has no known name, does not count; "" if
 * it is not in the cache. */
static void present_text(char text[EXPLAIN_TEXT], const struct plan_module *module)
{
	text[0] = '\0';
	if (!module->key)
		(void)text_format(text, EXPLAIN_TEXT, "the names of this driver's entries are not known");
	else if (module->damage == CACHE_DAMAGE_READ)
		(void)text_format(text, EXPLAIN_TEXT, "this account cannot read the entry");
	else if (module->damage == CACHE_DAMAGE_OTHER)
		(void)text_format(text, EXPLAIN_TEXT,
						  "the cache has the entry of another module with the same name");
	else if (module->damage)
		(void)text_format(text, EXPLAIN_TEXT, "damaged entry: %s",
						  cache_damage_text(module->damage));
}

static void count_reason(struct reasons *reasons, const char *text, size_t modules)
{
	size_t at = 0;

	while (at < reasons->count && strcmp(reasons->items[at].text, text) != 0)
		at++;
	if (!modules || at == MAX_REASONS)
		return;
	if (at == reasons->count) {
		text_copy(reasons->items[at].text, EXPLAIN_TEXT, text);
		reasons->count++;
	}
	reasons->items[at].modules += modules;
}

static int by_modules(const void *a, const void *b)
{
	const struct reason *left = a, *right = b;

	if (left->modules != right->modules)
		return left->modules > right->modules ? -1 : 1;
	return strcmp(left->text, right->text);
}

static void find_reasons(const struct plan *plan, struct reasons *ret_reasons)
{
	struct reasons reasons = {.count = 0};
	char text[EXPLAIN_TEXT];
	size_t absent = 0;

	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (module->state != PLAN_COLD)
			continue;
		present_text(text, module);
		absent += !*text;
		if (*text)
			count_reason(&reasons, text, 1);
	}
	if (absent) {
		absent_text(text, plan);
		count_reason(&reasons, text, absent);
	}
	if (reasons.count)
		qsort(reasons.items, reasons.count, sizeof *reasons.items, by_modules);
	*ret_reasons = reasons;
}

void explain_line(char line[EXPLAIN_LINE], const struct plan *plan)
{
	struct reasons reasons;

	line[0] = '\0';
	find_reasons(plan, &reasons);
	for (size_t i = 0; i < reasons.count; i++)
		text_append(line, EXPLAIN_LINE, "%s%s: %s", i ? "; " : "",
					TEXT_COUNT(reasons.items[i].modules, "module", "modules"),
					reasons.items[i].text);
}

const char *explain_most(char text[EXPLAIN_TEXT], const struct plan *plan)
{
	struct reasons reasons;

	find_reasons(plan, &reasons);
	text_copy(text, EXPLAIN_TEXT, reasons.count ? reasons.items[0].text : "");
	return text;
}
