#include "cache/outlook.h"

#include "base/text.h"
#include "cache/view.h"

static void describe_outlook(const struct cache_index *index, enum cache_next_insert next,
							 uint64_t limit_bytes, struct jw_cache_outlook *outlook)
{
	char total[TEXT_SHORT], rows[TEXT_SHORT], limit[TEXT_SHORT];
	const size_t room = sizeof outlook->text;

	TEXT_COPY(outlook->next_step,
			  outlook->unknown_version    ? "delete “index” unless a newer one uses it"
			  : next == CACHE_NEXT_EVICTS ? "“jitwarm tune --apply” raises the limit"
										  : "“jitwarm prime” repairs the index");
	if (outlook->unknown_version)
		(void)text_format(outlook->text, room,
						  "the index has unknown version 0x%x: old drivers delete every entry",
						  outlook->unknown_version);
	else if (next == CACHE_NEXT_HANGS)
		TEXT_COPY(outlook->text, "the cache's index is a pipe: programs hang");
	else if (next == CACHE_NEXT_NOTHING)
		TEXT_COPY(outlook->text, "the cache's index is not a file: each start compiles everything");
	else if (next == CACHE_NEXT_WIPES)
		(void)text_format(
			outlook->text, room,
			"the cache's index is %s: the driver will delete every entry (%zu) %s",
			index->state == CACHE_INDEX_VERSION ? "damaged" : outlook->index, outlook->entries,
			index->state == CACHE_INDEX_TRUNCATED ? "at the next start" : "at the next compile");
	else if (next == CACHE_NEXT_EVICTS)
		(void)text_format(
			outlook->text, room,
			"the cache holds %s of at most %s: the next compile evicts %s or more, %s",
			text_bytes(total, index->total_bytes), text_bytes(limit, limit_bytes),
			TEXT_COUNT(outlook->evicted, "entry", "entries"),
			text_bytes(rows, outlook->evicted_bytes));
	else
		(void)text_format(
			outlook->text, room, "the cache's index counts %s, but its rows add up to %s: %s",
			text_bytes(total, index->total_bytes), text_bytes(rows, cache_index_rows_total(index)),
			next == CACHE_NEXT_EVICTS_ALL
				? "the next compile evicts every entry, and the driver stores no more"
				: "the driver evicts entries before its limit is reached");
}

void cache_outlook_of(const struct cache_index *index, size_t files, uint64_t file_bytes,
					  uint64_t limit_bytes, struct jw_cache_outlook *ret_outlook)
{
	static const char *const names[] = {
		[CACHE_NEXT_ADDS] = "adds",     [CACHE_NEXT_EVICTS_SOON] = "evicts_soon",
		[CACHE_NEXT_EVICTS] = "evicts", [CACHE_NEXT_EVICTS_ALL] = "evicts_all",
		[CACHE_NEXT_WIPES] = "wipes",   [CACHE_NEXT_NOTHING] = "nothing",
		[CACHE_NEXT_HANGS] = "hangs",
	};
	enum cache_next_insert next = cache_index_next(index, limit_bytes);
	struct jw_cache_outlook outlook = {
		.entries = files, .bytes = file_bytes, .unknown_version = index->unknown_version};

	/* An empty directory loses nothing; with a device, only future entries are lost. */
	if (next == CACHE_NEXT_WIPES && !files && index->state != CACHE_INDEX_DEVICE)
		next = CACHE_NEXT_ADDS;
	outlook.index = cache_index_state_name(index->state);
	outlook.next_insert = names[next];
	outlook.harmful = next > CACHE_NEXT_EVICTS;
	if (index->state == CACHE_INDEX_SOUND && files > index->count && file_bytes <= limit_bytes)
		outlook.uncounted = files - index->count;
	/* The first row is evicted first. */
	for (size_t i = 0; next == CACHE_NEXT_EVICTS && i < index->count &&
					   index->total_bytes > limit_bytes + outlook.evicted_bytes;
		 i++) {
		outlook.evicted++;
		outlook.evicted_bytes += index->rows[i].size_bytes;
	}
	if (next != CACHE_NEXT_ADDS)
		describe_outlook(index, next, limit_bytes, &outlook);
	*ret_outlook = outlook;
}

void cache_outlook(const char *dir, uint64_t limit_bytes, bool count,
				   struct jw_cache_outlook *ret_outlook)
{
	struct jw_cache_outlook unknown = {.index = "unknown", .next_insert = "adds"};
	struct cache_index index = {0};
	struct cache_files scan = {0};
	struct jw_error why;
	size_t entries;
	uint64_t bytes;

	if (!dir) {
		*ret_outlook = unknown;
		return;
	}
	if (cache_view_index(&why, dir, &index))
		goto unknown;
	count = count || index.state != CACHE_INDEX_SOUND;
	/* A directory that does not exist yet holds nothing. */
	if (count && cache_files_scan(&why, dir, /* headers= */ false, NULL, &scan) &&
		why.code != JW_ERR_NOT_FOUND)
		goto unknown;
	entries = count ? scan.count : index.count;
	bytes = count ? 0 : index.total_bytes;
	for (size_t i = 0; i < scan.count; i++)
		bytes += cache_file_counts(&scan.files[i]);
	cache_outlook_of(&index, entries, bytes, limit_bytes, ret_outlook);
	cache_files_free(&scan);
	cache_index_free(&index);
	return;
unknown:
	(void)text_format(unknown.text, sizeof unknown.text,
					  "cannot tell what the next start does: %.180s", why.message);
	TEXT_COPY(unknown.next_step, "“jitwarm cache verify” reads the whole cache");
	*ret_outlook = unknown;
	cache_index_free(&index);
}
