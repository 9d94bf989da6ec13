/* The driver's cache: what it holds by driver and architecture, against its limit. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/parts/cache_commands.h"
#include "cli/parts/report_page.h"

enum { MOST_GROUPS = 256, SHOWN_GROUPS = 24 };

struct cache_sum {
	char driver[sizeof((struct jw_cache_entry *)0)->driver];
	struct jw_target target;
	size_t entries;
	uint64_t bytes;
};

struct cache_sums {
	struct cache_sum *items;
	size_t count, capacity;
	uint64_t bytes;
};

static bool same_group(const void *element, const void *like)
{
	const struct cache_sum *a = element, *b = like;

	return !strcmp(a->driver, b->driver) && jw_target_equal(a->target, b->target);
}

static int by_bytes(const void *a, const void *b)
{
	const struct cache_sum *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	return strcmp(left->driver, right->driver);
}

/* Beyond the most groups entries count for the last one that there is room for. */
static int sum_up_groups(struct jw_error *err, const struct jw_cache_listing *list,
						 struct cache_sums *sums)
{
	const struct mem_list groups = VEC_LIST(sums->items, sums->count, sums->capacity, MOST_GROUPS);

	for (size_t i = 0; i < list->count; i++) {
		const struct jw_cache_entry *entry = &list->entries[i];
		struct cache_sum like = {.target = entry->target};
		size_t at;

		TEXT_COPY(like.driver, entry->driver);
		if (mem_find_or_add(err, &groups, &like, same_group, &at))
			return -1;
		at = at < sums->count ? at : sums->count - 1;
		sums->items[at].entries++;
		sums->items[at].bytes += entry->file_bytes;
		sums->bytes += entry->file_bytes;
	}
	if (sums->count)
		qsort(sums->items, sums->count, sizeof *sums->items, by_bytes);
	return 0;
}

static void write_meter(struct html_page *html, const struct cache_sums *sums, uint64_t limit_bytes)
{
	const double whole =
		(double)(sums->bytes > limit_bytes ? sums->bytes : limit_bytes) + (limit_bytes ? 0 : 1);

	html_raw(html, "<div class=\"meter\">");
	for (size_t i = 0; i < sums->count; i++) {
		const unsigned hundredths = (unsigned)((double)sums->items[i].bytes / whole * 10000);

		html_rawf(html, "<i style=\"width:%u.%02u%%\"></i>", hundredths / 100, hundredths % 100);
	}
	html_raw(html, "</div>\n");
}

static void write_groups(struct html_page *html, const struct cache_sums *sums)
{
	static const char *const heads[] = {" driver", " GPU", "nentries", "nsize", "b", NULL};

	html_heads(html, heads);
	for (size_t i = 0; i < sums->count && i < SHOWN_GROUPS; i++) {
		const struct cache_sum *sum = &sums->items[i];
		char driver[CACHE_DRIVER_TEXT], target[JW_TARGET_TEXT] = "unknown", size[TEXT_SHORT];

		if (sum->target.sm)
			(void)jw_target_sm(target, sum->target);
		html_raw(html, "<tr>");
		html_cell(html, "", "%s",
				  *sum->driver ? cache_command_driver_text(driver, sum->driver) : "unknown");
		html_cell(html, "w", "%s", target);
		html_cell(html, "n", "%zu", sum->entries);
		html_cell(html, "n", "%s", text_bytes(size, sum->bytes));
		html_bar(html, sums->bytes ? (double)sum->bytes / (double)sums->bytes : 0);
		html_raw(html, "</tr>\n");
	}
	html_raw(html, "</table></div>\n");
	if (sums->count > SHOWN_GROUPS)
		html_rawf(html, "<p class=\"soft\">and %zu more</p>\n", sums->count - SHOWN_GROUPS);
}

void report_cache_write(struct html_page *html, const struct jw_cache_info *cache,
						const struct jw_cache_listing *entries)
{
	struct cache_sums sums = {0};
	char size[TEXT_SHORT], limit[TEXT_SHORT];

	html_raw(html, "<h2 id=\"cache\">The driver&rsquo;s cache</h2>\n<p>");
	if (!cache->path)
		html_text(html, "None: the driver does not cache.");
	else if (entries && sum_up_groups(&html->err, entries, &sums))
		html->failed = true;
	else
		html_textf(html, "%s: %s, %s of %s%s", cache->path,
				   TEXT_COUNT(entries ? entries->count : 0, "entry", "entries"),
				   text_bytes(size, sums.bytes), text_bytes(limit, cache->limit_bytes),
				   cache->limit_set ? "" : " (the driver's default limit)");
	html_raw(html, "</p>\n");
	for (size_t i = 0; i < cache->warning_count; i++) {
		html_raw(html, "<p>");
		html_text(html, cache->warnings[i]);
		html_raw(html, "</p>\n");
	}
	if (sums.count) {
		write_meter(html, &sums, cache->limit_bytes);
		write_groups(html, &sums);
	}
	mem_free(sums.items);
}
