/* tune, startup, uninstall */
#include "cli/documents/documents.h"

#define TUNE(member, ...)          JSON(struct tune_document, member, __VA_ARGS__)
#define TUNE_AS(name, member, ...) JSON_AS(name, struct tune_document, member, __VA_ARGS__)

static const struct json_field force_fields[] = {
	TUNE(cache.path, "absent where the driver would not cache", .presence = JSON_UNLESS_NULL),
	TUNE(cache.limit_bytes, NULL),
	TUNE(cache.limit_set, "by `CUDA_CACHE_MAXSIZE`"),
	{0},
};

static const struct json_field wanted_fields[] = {
	TUNE(path, "absent where it stays as it is", .presence = JSON_UNLESS_NULL),
	TUNE(limit_bytes, NULL),
	{0},
};

static const char *say_value(char room[JSON_ROOM], const void *values)
{
	const struct jw_setting *setting = values;

	(void)room;
	return setting->unset ? NULL : setting->value;
}

static const struct json_field setting_fields[] = {
	JSON(struct jw_setting, source,
		 "`process`, `shell profile`, `environment.d`, `/etc/environment`, `profile.d`, `systemd "
		 "unit`, `conda environment`, `container`, `Windows user`, `Windows machine`"),
	JSON(struct jw_setting, where, "file or registry key"),
	JSON(struct jw_setting, line, "0: none"),
	JSON(struct jw_setting, name, "of the variable"),
	JSON_SAID_OF("value", say_value, "absent where the variable is unset",
				 .presence = JSON_UNLESS_NULL),
	JSON_AS("by_jitwarm", struct jw_setting, ours, "in a block that jitwarm wrote"),
	{0},
};

static const struct json_field change_fields[] = {
	JSON(struct jw_tune_change, where, "file or registry key"),
	JSON(struct jw_tune_change, what,
		 "`written`, `unchanged`, `restored`, `removed`; "
		 "`left`: changed by others since; "
		 "`damaged, kept as`: the record of settings could not be read and was renamed"),
	{0},
};

static const struct json_field undone_fields[] = {
	JSON_LIST_OF("changes", struct tune_document, changes.changes, changes.count,
				 JSON_TABLE(struct jw_tune_change, change_fields), "of `--apply` and `--undo`"),
	{0},
};
const struct json_table document_tune_undone = {
	.schema = "jitwarm.tune/1",
	.text = "`--undo` prints only this:",
	.fields = undone_fields,
};

static const struct json_field tune_fields[] = {
	JSON_PART("in_force", JSON_TABLE(struct tune_document, force_fields), "of this process"),
	JSON_PART("should_be", JSON_TABLE(struct tune_document, wanted_fields), "`--apply` sets it"),
	TUNE_AS("present_bytes", cache.outlook.bytes, "in the cache"),
	TUNE(predicted_bytes, "that the named packages would add"),
	JSON_LIST_OF("settings", struct tune_document, settings.items, settings.count,
				 JSON_TABLE(struct jw_setting, setting_fields),
				 "every place that sets a variable of the driver's cache"),
	JSON_LINES_OF(
		"warnings", struct tune_document, warnings, warning_count,
		"lines: misleading values, names unknown to the driver, problems of the directory"),
	JSON_SAME(&document_tune_undone),
	{0},
};
const struct json_table document_tune = {
	.schema = "jitwarm.tune/1", .fields = tune_fields, .instead = &document_tune_undone};

static const struct json_field item_fields[] = {
	JSON(struct jw_startup_item, where, "a file, or the task's name"),
	JSON(struct jw_startup_item, there, "it exists"),
	JSON_AS("by_jitwarm", struct jw_startup_item, ours, "it is jitwarm's"),
	JSON(struct jw_startup_item, text, "the content that `startup enable` with these names writes"),
	{0},
};

static const struct json_field startup_fields[] = {
	JSON(struct startup_document, enabled,
		 "the task, or all of the units, exist and are jitwarm's"),
	JSON_LIST_OF("items", struct startup_document, startup.items, startup.count,
				 JSON_TABLE(struct jw_startup_item, item_fields), NULL),
	JSON_LINES_OF("commands", struct startup_document, startup.commands, startup.command_count,
				  "run for the system, one line each"),
	JSON(struct startup_document, startup.failed,
		 "why one of them failed; nothing is enabled then, and the files are as before",
		 .presence = JSON_UNLESS_NULL),
	JSON_READY_OF("runs", struct startup_document, runs, &document_run,
				  "with `startup status`: the last lines of the log"),
	{0},
};
const struct json_table document_startup = {
	.schema = "jitwarm.startup/1",
	.fields = startup_fields,
};

static const struct json_field uninstall_fields[] = {
	JSON_LINES_OF(
		"removed", struct uninstall_document, removed, count,
		"files, registry values, folders (jitwarm's empty one in the driver's cache too)"),
	{0},
};
const struct json_table document_uninstall = {
	.schema = "jitwarm.uninstall/1",
	.fields = uninstall_fields,
};
