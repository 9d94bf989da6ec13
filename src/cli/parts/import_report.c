#include "cli/parts/import_report.h"

#include "base/text.h"
#include "cli/parts/documents.h"

static const char *const verdict_names[] = {"accepted", "already there", "refused", "not complete"};
static const char *const verdict_keys[] = {"accepted", "there", "refused", "missing"};

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

		output_line(
			out, STYLE_WARN, "  PTX not found: %s%s%s%s%s%s%s: %zu modules for %zu entries: %s",
			missing->package ? missing->package : "", missing->version ? " " : "",
			missing->version ? missing->version : "", missing->package ? ", " : "", missing->path,
			missing->member ? ": " : "", missing->member ? missing->member : "", missing->modules,
			missing->entries, missing->why);
	}
}

void import_report_print(const struct output *out, const struct jw_import_result *result,
						 bool dry_run)
{
	char bytes[TEXT_SHORT], time[TEXT_SHORT];

	output_line(out, STYLE_STRONG, "%s", result->path);
	if (*result->signed_by)
		output_line(out, STYLE_PLAIN, "  signed by “%s”", result->signed_by);
	print_groups(out, result);
	print_missing(out, result);
	if (dry_run && result->accepted)
		output_line(out, STYLE_GOOD, "%s would be added (--dry-run: nothing was written)",
					ENTRY_COUNT(result, result->accepted));
	else if (dry_run)
		output_line(out, STYLE_PLAIN, "Nothing would be added (--dry-run)");
	else if (result->accepted)
		output_line(out, STYLE_GOOD, "%s added, %s, in %s", ENTRY_COUNT(result, result->added),
					text_bytes(bytes, result->added_bytes), text_duration(time, result->seconds));
	if (result->replaced)
		output_line(out, STYLE_PLAIN, "%zu entries were there with other bytes, and were replaced",
					result->replaced);
	if (result->evicted)
		output_line(out, STYLE_WARN, "%zu of the oldest entries had to make room", result->evicted);
}

/* ---- for programs */

static bool add_group(cJSON *array, const struct jw_import_group *group)
{
	cJSON *object = cJSON_CreateObject();

	return cJSON_AddItemToArray(array, object) &&
		   cJSON_AddStringToObject(object, "verdict", verdict_keys[group->verdict]) &&
		   cJSON_AddStringToObject(object, "target", group->target) &&
		   cJSON_AddStringToObject(object, "driver", group->driver) &&
		   cJSON_AddBoolToObject(object, "carried", group->carried) &&
		   cJSON_AddBoolToObject(object, "split", group->split) &&
		   cJSON_AddNumberToObject(object, "entries", (double)group->entries) &&
		   (!*group->why || document_add_text(object, "why", group->why));
}

static bool add_missing(cJSON *array, const struct jw_import_missing *missing)
{
	cJSON *object = cJSON_CreateObject();

	return cJSON_AddItemToArray(array, object) &&
		   (!missing->package || document_add_text(object, "package", missing->package)) &&
		   (!missing->version || document_add_text(object, "version", missing->version)) &&
		   document_add_text(object, "path", missing->path) &&
		   (!missing->member || document_add_text(object, "member", missing->member)) &&
		   cJSON_AddNumberToObject(object, "modules", (double)missing->modules) &&
		   cJSON_AddNumberToObject(object, "entries", (double)missing->entries) &&
		   document_add_text(object, "why", missing->why);
}

cJSON *import_report_document(const struct jw_import_result *result, bool dry_run)
{
	const struct {
		const char *name;
		double value;
	} numbers[] = {
		{"entries", (double)result->entries},
		{"accepted", (double)result->accepted},
		{"there", (double)result->there},
		{"refused", (double)result->refused},
		{"missing", (double)result->missing},
		{"added", (double)result->added},
		{"replaced", (double)result->replaced},
		{"evicted", (double)result->evicted},
		{"added_bytes", (double)result->added_bytes},
		{"content_bytes", (double)result->content_bytes},
		{"pack_bytes", (double)result->pack_bytes},
		{"seconds", result->seconds},
	};
	cJSON *object = output_document("import"), *groups, *missing = NULL;
	bool complete =
		object && document_add_text(object, "path", result->path) &&
		(!*result->signed_by || cJSON_AddStringToObject(object, "signed_by", result->signed_by)) &&
		cJSON_AddBoolToObject(object, "dry_run", dry_run) &&
		(!result->opaque || cJSON_AddBoolToObject(object, "opaque", true));

	for (size_t i = 0; complete && i < sizeof numbers / sizeof *numbers; i++)
		complete = cJSON_AddNumberToObject(object, numbers[i].name, numbers[i].value) != NULL;
	groups = complete ? cJSON_AddArrayToObject(object, "groups") : NULL;
	complete = groups != NULL;
	for (size_t i = 0; complete && i < result->group_count; i++)
		complete = !result->groups[i].entries || add_group(groups, &result->groups[i]);
	if (complete && result->missing_file_count)
		missing = cJSON_AddArrayToObject(object, "missing_files");
	for (size_t i = 0; complete && i < result->missing_file_count; i++)
		complete = missing && add_missing(missing, &result->missing_files[i]);
	if (complete)
		return object;
	cJSON_Delete(object);
	return NULL;
}
