/* cache-list, cache-verify, cache-prune */
#include "cli/documents/documents.h"

#include <stdio.h>

#include "cli/parts/cache_commands.h"

#define ENTRY(member, ...)  JSON(struct cache_list_row, entry.member, __VA_ARGS__)
#define REPORT(member, ...) JSON(struct cache_verify_document, report.member, __VA_ARGS__)
#define REPORT_AS(name, member, ...)                                                               \
	JSON_AS(name, struct cache_verify_document, member, __VA_ARGS__)
#define PRUNE(member, ...) JSON(struct cache_prune_document, member, __VA_ARGS__)

#define OUTLOOK(member, ...) JSON(struct jw_cache_outlook, member, __VA_ARGS__)
#define OUTLOOK_INDEX                                                                              \
	"`sound`, `missing`, `empty`, `truncated` (fewer rows than it counts), "                       \
	"`not an index`, `a device`, `a pipe`, `not a file`; `unknown`: it cannot be read"
#define OUTLOOK_NEXT                                                                               \
	"what a driver does when it next stores an entry: `adds`; `evicts_soon`: evicts before its "   \
	"limit is reached; `evicts`: evicts until the cache, which is larger than its limit, fits; "   \
	"`evicts_all`: evicts every entry and stores nothing, every time; `wipes`: deletes every "     \
	"entry (of a `truncated` index at its next look-up already); `nothing`: neither uses nor "     \
	"stores entries; `hangs`: every program hangs at its first look-up"
#define OUTLOOK_EVICTED "with `evicts`: at least this many entries are evicted"

static const struct json_field outlook_fields[] = {
	OUTLOOK(index, OUTLOOK_INDEX),
	OUTLOOK(next_insert, OUTLOOK_NEXT),
	OUTLOOK(harmful, "`prime` or `cache verify --repair` is needed before the next start"),
	OUTLOOK(evicted, OUTLOOK_EVICTED),
	OUTLOOK(evicted_bytes, "the size of these entries"),
	OUTLOOK(text, "a line for people", .presence = JSON_IF_SET),
	{0},
};
const struct json_table document_outlook = {.fields = outlook_fields,
											.size = sizeof(struct jw_cache_outlook)};

static const char *key_text(char room[JSON_ROOM], const void *key)
{
	(void)snprintf(room, JSON_ROOM, "%016llx", (unsigned long long)*(const uint64_t *)key);
	return room;
}

static const char *say_form(char room[JSON_ROOM], const void *values)
{
	const struct cache_list_row *row = values;

	(void)room;
	return row->entry.kind == JW_CACHE_CUDA ? cached_forms[row->entry.form] : NULL;
}

static const struct json_field entry_fields[] = {
	JSON_SAID("key", struct cache_list_row, entry.key, key_text, "the entry's name, 16 hex digits"),
	ENTRY(kind, "`cuda`, `opencl` or `other`", .names = cached_kinds),
	JSON_SAID_OF("form", say_form,
				 "CUDA: `load` (a module), `link` (an input of run-time linking) or `nvjitlink`",
				 .presence = JSON_UNLESS_NULL),
	JSON_SAID("arch", struct cache_list_row, entry.target, document_sm,
			  "`sm_86`, `\"\"` where unknown"),
	ENTRY(driver, "the stamp in the key; OpenCL: the release"),
	ENTRY(options, "the compiler's options in the key, cut at 79 bytes"),
	JSON_AS("source_bytes", struct cache_list_row, entry.payload_bytes, "of the PTX in the key"),
	ENTRY(value_bytes, "of the result"),
	ENTRY(file_bytes, "of the file"),
	JSON_NUMBERED("mtime_s", struct cache_list_row, entry.mtime_ns, document_whole_seconds,
				  "seconds since 1970"),
	ENTRY(in_index, "the index has a row for it"),
	ENTRY(damaged, "by its header; values are not hashed (`cache verify` does that)"),
	JSON(struct cache_list_row, carried,
		 "marked by this account: made by an older driver's compiler"),
	{0},
};

static const struct json_field list_fields[] = {
	JSON(struct cache_list_document, path, "the directory"),
	JSON_LIST_OF("entries", struct cache_list_document, rows, count,
				 JSON_TABLE(struct cache_list_row, entry_fields),
				 "in the order in which the driver will evict them; entries that its index does "
				 "not count come last"),
	{0},
};
const struct json_table document_cache_list = {
	.schema = "jitwarm.cache-list/1",
	.fields = list_fields,
};

static const struct json_field kind_fields[] = {
	REPORT_AS("cuda", report.kinds[JW_CACHE_CUDA], NULL),
	REPORT_AS("opencl", report.kinds[JW_CACHE_OPENCL], NULL),
	REPORT_AS("other", report.kinds[JW_CACHE_OTHER], NULL),
	{0},
};

static const struct json_field index_fields[] = {
	REPORT_AS("state", report.outlook.index, OUTLOOK_INDEX),
	REPORT_AS("total_bytes", report.index_bytes, "what the driver counts against its limit"),
	REPORT(rows_bytes, "the sum of its rows, which that should equal"),
	REPORT(rows_repeated, "rows that repeat another"),
	REPORT(rows_of_other_size, "rows with another size than their files"),
	{0},
};

static const struct json_field damaged_fields[] = {
	JSON_AS("file", struct jw_cache_damaged, name, "below the directory"),
	JSON(struct jw_cache_damaged, reason, NULL),
	{0},
};

static double repaired_rows(const void *values)
{
	const struct jw_cache_repaired *repaired = values;

	return (double)(repaired->counted + repaired->dropped);
}

static const struct json_field verify_fields[] = {
	REPORT(path, "the directory"),
	REPORT(entries, "files in the places of entries"),
	REPORT(sound, NULL),
	REPORT(damaged, NULL),
	JSON(struct cache_verify_document, carried,
		 "of them, marked by this account: carried over from an older driver"),
	REPORT(bytes, "of all entries"),
	REPORT(rows, "of the index"),
	REPORT(rows_without_file, NULL),
	REPORT(files_without_row, NULL),
	REPORT(foreign, "files and folders that do not belong to a driver's cache; left alone"),
	REPORT_AS("repaired_entries", repaired.removed,
			  "with `--repair`: damaged entries that were removed before"),
	JSON_NUMBERED("repaired_rows", struct cache_verify_document, repaired, repaired_rows,
				  "with `--repair`: rows that were added or removed"),
	JSON_NUMBERED("repaired_hold_seconds", struct cache_verify_document, repaired.longest_hold_ns,
				  document_seconds, "with `--repair`: the longest hold of the driver's lock"),
	JSON_PART("kinds", JSON_TABLE(struct cache_verify_document, kind_fields),
			  "counts of sound entries by kind"),
	JSON_PART("index", JSON_TABLE(struct cache_verify_document, index_fields), NULL),
	REPORT(outlook.next_insert, OUTLOOK_NEXT),
	REPORT(outlook.evicted, OUTLOOK_EVICTED),
	JSON_LIST_OF("damaged_entries", struct cache_verify_document, report.damaged_entries,
				 report.damaged, JSON_TABLE(struct jw_cache_damaged, damaged_fields), NULL),
	{0},
};
const struct json_table document_cache_verify = {
	.schema = "jitwarm.cache-verify/1",
	.fields = verify_fields,
};

static const struct json_field prune_group_fields[] = {
	JSON(struct jw_prune_group, driver, "the stamp; OpenCL: the release"),
	JSON_SAID("arch", struct jw_prune_group, target, document_sm, "`sm_86`, `\"\"` where unknown"),
	JSON(struct jw_prune_group, newer,
		 "of those that stay: the driver is newer than this machine's"),
	JSON(struct jw_prune_group, entries, NULL),
	JSON(struct jw_prune_group, bytes, NULL),
	{0},
};

static const struct json_field prune_fields[] = {
	PRUNE(result.path, "the directory"),
	PRUNE(applied, "with `--apply`"),
	PRUNE(result.entries, "in the cache before"),
	PRUNE(result.bytes, "in the cache before"),
	PRUNE(result.chosen_entries, "of them: the entries to remove"),
	PRUNE(result.chosen_bytes, "of the entries to remove"),
	PRUNE(result.removed, "with `--apply`: entries that were removed"),
	PRUNE(result.removed_bytes, "of the removed entries"),
	PRUNE(result.changed, "not removed: rewritten meanwhile"),
	PRUNE(result.not_judged, "not removed: damaged, or they cannot be read"),
	JSON_NUMBERED("longest_hold_seconds", struct cache_prune_document, result.longest_hold_ns,
				  document_seconds, "with the driver's lock"),
	JSON_LIST_OF("groups", struct cache_prune_document, result.groups, result.group_count,
				 JSON_TABLE(struct jw_prune_group, prune_group_fields), "the chosen ones"),
	JSON_LIST_OF(
		"staying", struct cache_prune_document, result.staying, result.staying_count,
		JSON_TABLE(struct jw_prune_group, prune_group_fields),
		"entries that stay: of an unknown driver, or with `--driver former` of a newer one"),
	{0},
};
const struct json_table document_cache_prune = {
	.schema = "jitwarm.cache-prune/1",
	.fields = prune_fields,
};
