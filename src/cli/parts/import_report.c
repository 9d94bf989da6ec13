#include "cli/parts/import_report.h"

#include "base/text.h"

static const char *const verdict_names[] = {"accepted", "already there", "refused", "not complete"};

/* ---- for people */

/* Opaque packs hold files; others, entries. */
#define ENTRY_COUNT(result, count)                                                                 \
	((result)->opaque ? TEXT_COUNT(count, "file", "files") : TEXT_COUNT(count, "entry", "entries"))

static void print_groups(const struct output *out, const struct jw_import_result *result)
{
	static const enum style styles[] = {STYLE_GOOD, STYLE_PLAIN, STYLE_WARN, STYLE_WARN};

	for (size_t i = 0; i < result->group_count; i++) {
		const struct jw_import_group *group = &result->groups[i];

		if (!group->entries)
			continue;
		output_line(out, styles[group->verdict], "  %-13s %s for %s by driver %s%s%s%s%s",
					verdict_names[group->verdict], ENTRY_COUNT(result, group->entries),
					*group->target   ? group->target
					: result->opaque ? "any GPU"
									 : "other GPUs",
					*group->driver ? group->driver : "of several versions",
					group->carried ? ", carried over to this machine's" : "",
					group->split ? ", compiled over several threads (--split)" : "",
					*group->why ? ": " : "", group->why);
	}
}

/* A file a line. */
static void print_missing(const struct output *out, const struct jw_import_result *result)
{
	for (size_t i = 0; i < result->missing_file_count; i++) {
		const struct jw_import_missing *missing = &result->missing_files[i];

		output_line(out, STYLE_WARN, "  PTX not found: %s%s%s%s%s%s%s: %s for %s: %s",
					missing->package ? missing->package : "", missing->version ? " " : "",
					missing->version ? missing->version : "", missing->package ? ", " : "",
					missing->path, missing->member ? ": " : "",
					missing->member ? missing->member : "",
					TEXT_COUNT(missing->modules, "module", "modules"),
					TEXT_COUNT(missing->entries, "entry", "entries"), missing->why);
	}
}

void import_report_print(const struct output *out, const struct jw_import_result *result)
{
	char bytes[TEXT_SHORT], time[TEXT_SHORT];

	output_line(out, STYLE_STRONG, "%s", result->path);
	if (*result->signed_by)
		output_line(out, STYLE_PLAIN, "  signed by “%s”", result->signed_by);
	print_groups(out, result);
	print_missing(out, result);
	if (result->dry_run && result->accepted)
		output_line(out, STYLE_GOOD, "%s would be added (--dry-run: nothing was written)",
					ENTRY_COUNT(result, result->accepted));
	else if (result->dry_run)
		output_line(out, STYLE_PLAIN, "Nothing would be added (--dry-run)");
	else if (result->accepted)
		output_line(out, STYLE_GOOD, "%s added, %s, in %s", ENTRY_COUNT(result, result->added),
					text_bytes(bytes, result->added_bytes), text_duration(time, result->seconds));
	output_count(out, STYLE_PLAIN, "", result->replaced, "entry with other bytes replaced",
				 "entries with other bytes replaced");
	output_count(out, STYLE_WARN, "", result->evicted,
				 "old entry evicted: the cache is at its limit (CUDA_CACHE_MAXSIZE)",
				 "old entries evicted: the cache is at its limit (CUDA_CACHE_MAXSIZE)");
}
