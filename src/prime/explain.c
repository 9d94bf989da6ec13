#include "prime/explain.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/cache.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"

static const char *const names[] = {
	[JW_COLD_NOT] = "not",         [JW_COLD_UNKNOWN] = "unknown", [JW_COLD_NEVER] = "never",
	[JW_COLD_DAMAGED] = "damaged", [JW_COLD_DRIVER] = "driver",   [JW_COLD_FILE] = "file",
	[JW_COLD_OPTIONS] = "options", [JW_COLD_GPU] = "gpu",         [JW_COLD_EVICTED] = "evicted",
	[JW_COLD_DELETED] = "deleted", [JW_COLD_WIPED] = "wiped",     [JW_COLD_GONE] = "gone",
	[JW_COLD_CARRIED] = "carried",
};

const char *jw_cold_reason_name(enum jw_cold_reason reason)
{
	return names[reason];
}

/* The present state of the cache. */
struct cache_now {
	struct cache_shape shape;
	struct set rows; /* of the index, by key */
	bool crowded;
	bool keeps_none; /* its index counts so much that each insert evicts everything */
};

/* A driver evicts only as much as the new entry needs, so that such a cache stays nearly full. */
static bool is_crowded(const struct explain_request *request, const struct cache_index *index)
{
	uint64_t wanted = 0;

	for (size_t i = 0; i < request->plan->module_count; i++)
		wanted += request->plan->modules[i].state != PLAN_LEFT_OUT
					  ? request->plan->modules[i].entry_bytes
					  : 0;
	return request->limit_bytes && (wanted > request->limit_bytes ||
									cache_index_rows_total(index) > request->limit_bytes / 4 * 3);
}

static int look_at_cache(struct jw_error *err, const struct explain_request *request,
						 struct cache_now *ret_now)
{
	struct cache_now now = {0};
	struct cache_index index = {0};
	const char *dir = request->plan->cache_dir;
	int failed = dir ? cache_index_load(err, dir, &index) : 0;

	if (dir)
		cache_shape_take(dir, &now.shape);
	for (size_t i = 0; !failed && index.state == CACHE_INDEX_SOUND && i < index.count; i++)
		failed = set_add(err, &now.rows, index.rows[i].key, i);
	if (!failed) {
		now.crowded = is_crowded(request, &index);
		now.keeps_none = cache_index_next(&index, request->limit_bytes) == CACHE_NEXT_EVICTS_ALL;
		*ret_now = now;
	} else {
		set_free(&now.rows);
	}
	cache_index_free(&index);
	return failed ? -1 : 0;
}

/* Why an entry is missing that was there before. A driver removes row and file together, when it
 * evicts and when it wipes: a remaining row means that something else removed the file. */
static void explain_gone(const struct explain_request *request, const struct ledger_record *known,
						 const struct cache_now *now, struct explanation *explanation)
{
	const enum cache_loss loss = ledger_loss(request->ledger, known, &now->shape);
	size_t cursor = 0;

	explanation->reason = JW_COLD_DELETED;
	if (known->epoch == LEDGER_TAKEN_OUT) {
		explanation->how = "deleted by “jitwarm cache prune”";
		return;
	}
	if ((!now->crowded || loss == CACHE_LOSS_INDEX) &&
		set_find(&now->rows, known->key, &cursor) != SET_NONE) {
		explanation->how = "deleted: its file is gone, while the cache still counts it";
		return;
	}
	switch (loss) {
	case CACHE_LOSS_WIPED: explanation->reason = JW_COLD_WIPED; return;
	case CACHE_LOSS_INDEX:
		explanation->reason = JW_COLD_WIPED;
		explanation->how = "wiped by the driver: the cache's index was missing or damaged when a "
						   "module was stored";
		return;
	case CACHE_LOSS_EMPTIED: explanation->how = "deleted: the cache was emptied by hand"; return;
	case CACHE_LOSS_REPLACED:
		explanation->how = "deleted: the cache's folder was removed or replaced";
		return;
	case CACHE_LOSS_NONE:
	case CACHE_LOSS_UNKNOWN:
	case CACHE_LOSS_UNSURE: break;
	}
	if ((now->crowded || now->keeps_none) && loss != CACHE_LOSS_UNSURE) {
		explanation->reason = JW_COLD_EVICTED;
		if (now->keeps_none)
			explanation->how = "evicted: the cache's index counts bytes that no entry has, and so "
							   "the driver keeps none";
		return;
	}
	explanation->reason = JW_COLD_GONE;
	explanation->how =
		loss == CACHE_LOSS_NONE
			? "gone from the cache: deleted, or evicted by a program that keeps less "
			  "(CUDA_CACHE_MAXSIZE)"
			: "gone from the cache: deleted, or wiped by programs that wrote at "
			  "the same time";
}

static void explain_absent(const struct explain_request *request, const struct plan_module *module,
						   const struct cache_now *now, struct explanation *explanation)
{
	const struct ledger *ledger = request->ledger;
	const struct ledger_record *known = ledger_find(ledger, module);

	explanation->reason = JW_COLD_NEVER;
	if (!known)
		return;
	if (known->key == module->key) {
		explain_gone(request, known, now, explanation);
	} else if (strcmp(ledger->stamps[known->stamp], request->plan->profile.stamp) != 0) {
		explanation->reason = JW_COLD_DRIVER;
		memcpy(explanation->stamp, ledger->stamps[known->stamp], sizeof explanation->stamp);
	} else {
		explanation->reason = JW_COLD_FILE;
	}
}

static void explain_module(const struct explain_request *request, const struct plan_module *module,
						   const struct cache_now *now, struct explanation *explanation)
{
	if (module->state != PLAN_COLD)
		return;
	if (module->carried) {
		const struct ledger_mark *mark =
			ledger_marked(request->ledger, request->plan->cache_dir, module->key);

		explanation->reason = JW_COLD_CARRIED;
		if (mark)
			memcpy(explanation->stamp, ledger_mark_stamp(request->ledger, mark),
				   strlen(ledger_mark_stamp(request->ledger, mark)));
	} else if (!module->key) {
		explanation->reason = JW_COLD_UNKNOWN;
	} else if (module->damage) {
		explanation->reason = JW_COLD_DAMAGED;
		explanation->damage = cache_damage_text(module->damage);
	} else {
		explain_absent(request, module, now, explanation);
	}
}

int explain_plan(struct jw_error *err, const struct explain_request *request,
				 struct explanation **ret_explanations)
{
	const struct plan *plan = request->plan;
	struct explanation *explanations = mem_array(err, plan->module_count, sizeof *explanations);
	struct cache_now now;

	if (!explanations || look_at_cache(err, request, &now)) {
		mem_free(explanations);
		return -1;
	}
	for (size_t i = 0; i < plan->module_count; i++)
		explain_module(request, &plan->modules[i], &now, &explanations[i]);
	set_free(&now.rows);
	if (request->again && plan->cache_dir && explain_by_cache(err, request, explanations)) {
		mem_free(explanations);
		return -1;
	}
	*ret_explanations = explanations;
	return 0;
}

bool explain_same(const struct explanation *a, const struct explanation *b)
{
	return a->reason == b->reason && a->how == b->how && a->sm == b->sm &&
		   !strcmp(a->stamp, b->stamp) && !strcmp(a->options, b->options) &&
		   text_same(a->damage, b->damage);
}

/* "535.309.01", or the build's date if the release is not known. */
static const char *driver_name(char text[64], const char *stamp)
{
	const char *known = jw_cache_driver_of_stamp(stamp);

	(void)snprintf(text, 64, known ? "%s" : "the one built on %.11s", known ? known : stamp);
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

const char *explain_text(char text[EXPLAIN_TEXT], const struct explain_request *request,
						 const struct explanation *explanation)
{
	char from[64], to[64], bytes[TEXT_SHORT];

	if (explanation->how) {
		text_copy(text, EXPLAIN_TEXT, explanation->how);
		return text;
	}
	switch (explanation->reason) {
	case JW_COLD_NOT: text[0] = '\0'; break;
	case JW_COLD_UNKNOWN:
		(void)snprintf(text, EXPLAIN_TEXT, "the names of this driver's entries are not known");
		break;
	case JW_COLD_NEVER: (void)snprintf(text, EXPLAIN_TEXT, "never primed"); break;
	case JW_COLD_DAMAGED:
		(void)snprintf(text, EXPLAIN_TEXT, "the entry is damaged (%s)", explanation->damage);
		break;
	case JW_COLD_DRIVER:
		(void)snprintf(text, EXPLAIN_TEXT, "the driver has changed from %s to %s",
					   driver_name(from, explanation->stamp), this_driver(to, request->plan));
		break;
	case JW_COLD_FILE:
		(void)snprintf(text, EXPLAIN_TEXT, "the file has changed since it was primed");
		break;
	case JW_COLD_OPTIONS:
		(void)snprintf(text, EXPLAIN_TEXT, "compiled with other options (“%s”)",
					   explanation->options);
		break;
	case JW_COLD_GPU:
		(void)snprintf(text, EXPLAIN_TEXT, "compiled for other GPUs (sm_%u)",
					   (unsigned)explanation->sm);
		break;
	case JW_COLD_EVICTED:
		(void)snprintf(text, EXPLAIN_TEXT,
					   "evicted: the cache keeps no more than %s, set CUDA_CACHE_MAXSIZE to more",
					   text_bytes(bytes, request->limit_bytes));
		break;
	case JW_COLD_CARRIED:
		(void)snprintf(text, EXPLAIN_TEXT, "carried over: made by the compiler of %s",
					   explanation->stamp[0] ? driver_name(from, explanation->stamp)
											 : "an older driver");
		break;
	case JW_COLD_WIPED:
		(void)snprintf(text, EXPLAIN_TEXT,
					   "wiped by the driver, which does so where its index is missing, or half "
					   "written by another program (beyond 256 entries)");
		break;
	case JW_COLD_DELETED:
	case JW_COLD_GONE: break;
	}
	return text;
}

/* The first module of each reason represents it. */
static size_t count_same(const struct explain_request *request,
						 const struct explanation *explanations, size_t at)
{
	size_t count = 0;

	for (size_t i = 0; i < request->plan->module_count; i++) {
		if (!explain_same(&explanations[i], &explanations[at]))
			continue;
		if (i < at)
			return 0;
		count++;
	}
	return count;
}

void explain_line(char line[EXPLAIN_LINE], const struct explain_request *request,
				  const struct explanation *explanations)
{
	enum { MOST_REASONS = 6 };
	struct reason {
		size_t at, count;
	} reasons[MOST_REASONS];
	size_t used = 0, length = 0;
	char text[EXPLAIN_TEXT];

	line[0] = '\0';
	for (size_t i = 0; i < request->plan->module_count && used < MOST_REASONS; i++) {
		struct reason reason = {.at = i};
		size_t to = used;

		if (explanations[i].reason == JW_COLD_NOT ||
			(i && explain_same(&explanations[i], &explanations[i - 1])))
			continue;
		reason.count = count_same(request, explanations, i);
		if (!reason.count)
			continue;
		for (; to > 0 && reasons[to - 1].count < reason.count; to--)
			reasons[to] = reasons[to - 1];
		reasons[to] = reason;
		used++;
	}
	for (size_t i = 0; i < used && length < EXPLAIN_LINE; i++)
		length += (size_t)snprintf(line + length, EXPLAIN_LINE - length, "%s%s: %s", i ? "; " : "",
								   TEXT_COUNT(reasons[i].count, "module", "modules"),
								   explain_text(text, request, &explanations[reasons[i].at]));
}
