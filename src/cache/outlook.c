#include "cache/outlook.h"

#include <stdio.h>

#include "base/text.h"
#include "cache/entry.h"
#include "cache/view.h"

/* First row, first out. */
static void count_evicted(const struct cache_index *index, uint64_t limit_bytes,
						  struct jw_cache_outlook *outlook)
{
	for (size_t i = 0; i < index->count; i++) {
		if (index->total_bytes <= limit_bytes + outlook->evicted_bytes)
			return;
		outlook->evicted++;
		outlook->evicted_bytes += index->rows[i].size_bytes;
	}
}

static void tell_size(const struct cache_index *index, enum cache_next_insert next,
					  uint64_t limit_bytes, struct jw_cache_outlook *outlook)
{
	char total[TEXT_SHORT], rows[TEXT_SHORT], limit[TEXT_SHORT];
	const size_t room = sizeof outlook->text;

	(void)text_bytes(total, index->total_bytes);
	(void)text_bytes(limit, limit_bytes);
	if (next == CACHE_NEXT_EVICTS) {
		(void)snprintf(outlook->text, room,
					   "the cache holds %s, and the driver keeps %s (CUDA_CACHE_MAXSIZE): the next "
					   "module that it stores evicts %s or more, %s, the oldest first",
					   total, limit, TEXT_COUNT(outlook->evicted, "entry", "entries"),
					   text_bytes(rows, outlook->evicted_bytes));
		TEXT_COPY(outlook->next_step, "“jitwarm tune” raises the limit");
		return;
	}
	(void)snprintf(outlook->text, room, "the cache's index counts %s where its rows make %s: %s",
				   total, text_bytes(rows, cache_index_rows_total(index)),
				   next == CACHE_NEXT_EVICTS_ALL
					   ? "the next module evicts every entry, and the driver stores no more of them"
					   : "the driver evicts entries before its limit is reached");
}

static void tell_outlook(const struct cache_index *index, enum cache_next_insert next,
						 uint64_t limit_bytes, struct jw_cache_outlook *outlook)
{
	const size_t room = sizeof outlook->text;

	TEXT_COPY(outlook->next_step, "“jitwarm prime” repairs it");
	if (next == CACHE_NEXT_HANGS)
		TEXT_COPY(outlook->text,
				  "the cache's index is a pipe: a program hangs when it loads its first module");
	else if (next == CACHE_NEXT_NOTHING)
		TEXT_COPY(outlook->text, "the cache's index is not a file: the driver uses no entry and "
								 "compiles everything at every start");
	else if (next == CACHE_NEXT_WIPES)
		(void)snprintf(outlook->text, room,
					   "the cache's index is %s: the driver deletes every "
					   "entry (%zu) %s",
					   index->state == CACHE_INDEX_VERSION ? "damaged" : outlook->index,
					   outlook->entries,
					   index->state == CACHE_INDEX_TRUNCATED ? "when a program starts"
															 : "when it next stores a module");
	else
		tell_size(index, next, limit_bytes, outlook);
}

void cache_outlook_of(const struct cache_index *index, size_t files, uint64_t file_bytes,
					  uint64_t limit_bytes, struct jw_cache_outlook *ret_outlook)
{
	enum cache_next_insert next = cache_index_next(index, limit_bytes);
	struct jw_cache_outlook outlook = {.entries = files, .bytes = file_bytes};

	/* An empty directory loses nothing; with a device, future entries are lost. */
	if (next == CACHE_NEXT_WIPES && !files && index->state != CACHE_INDEX_DEVICE)
		next = CACHE_NEXT_ADDS;
	outlook.index = cache_index_state_name(index->state);
	outlook.next_insert = cache_next_insert_name(next);
	outlook.harmful = next > CACHE_NEXT_EVICTS;
	if (index->state == CACHE_INDEX_SOUND && files > index->count && file_bytes <= limit_bytes)
		outlook.uncounted = files - index->count;
	if (next == CACHE_NEXT_EVICTS)
		count_evicted(index, limit_bytes, &outlook);
	if (next != CACHE_NEXT_ADDS)
		tell_outlook(index, next, limit_bytes, &outlook);
	*ret_outlook = outlook;
}

static void tell_unknown(const struct jw_error *why, struct jw_cache_outlook *outlook)
{
	(void)snprintf(outlook->text, sizeof outlook->text,
				   "what the next start does is unknown: %.180s", why->message);
	TEXT_COPY(outlook->next_step, "“jitwarm cache verify” reads all of it");
}

void cache_outlook(const char *dir, uint64_t limit_bytes, bool count,
				   struct jw_cache_outlook *ret_outlook)
{
	struct cache_files scan = {0};
	struct cache_index index = {0};
	struct jw_error why;
	size_t entries;
	uint64_t bytes;

	*ret_outlook = (struct jw_cache_outlook){.index = "unknown", .next_insert = "adds"};
	if (!dir)
		return;
	if (cache_view_index(&why, dir, &index)) {
		tell_unknown(&why, ret_outlook);
		return;
	}
	count = count || index.state != CACHE_INDEX_SOUND;
	/* No directory yet holds nothing. */
	if (count && cache_files_sizes(&why, dir, &scan) && why.code != JW_ERR_NOT_FOUND) {
		tell_unknown(&why, ret_outlook);
		cache_index_free(&index);
		return;
	}
	entries = count ? scan.count : index.count;
	bytes = count ? 0 : index.total_bytes;
	for (size_t i = 0; i < scan.count; i++)
		if (scan.files[i].probed.size_bytes > CACHE_ENTRY_HEADER)
			bytes += scan.files[i].probed.size_bytes - CACHE_ENTRY_HEADER;
	cache_outlook_of(&index, entries, bytes, limit_bytes, ret_outlook);
	cache_files_free(&scan);
	cache_index_free(&index);
}
