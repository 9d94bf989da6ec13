/* jitwarm config: the settings, and where each comes from. */
#include "base/mem.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/language.h"
#include "os/file.h"

struct config_document {
	char *account_file, *machine_file;
	struct config_row {
		const char *name;
		char *value;        /* "": not set */
		const char *origin; /* NULL: not set */
		const char *help;
	} * rows;
	size_t count;
};

static const struct json_field kept_setting_fields[] = {
	JSON(struct config_row, name, NULL),
	JSON(struct config_row, value, "of a list with blanks between them; absent: not set",
		 .presence = JSON_IF_SET),
	JSON_AS("from", struct config_row, origin, "a variable, or a file and its line",
			.presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field config_fields[] = {
	JSON_AS("account", struct config_document, account_file, "the account's file, there or not",
			.presence = JSON_UNLESS_NULL),
	JSON_AS("machine", struct config_document, machine_file, "the machine's"),
	JSON_LIST_OF("settings", struct config_document, rows, count,
				 JSON_TABLE(struct config_row, kept_setting_fields), "every setting"),
	{0},
};
const struct json_table document_config = {
	.schema = "jitwarm.config/1",
	.text = "`jitwarm config`.",
	.fields = config_fields,
};

static void print_file(const struct output *out, const char *path)
{
	output_line(out, STYLE_FAINT, os_exists(path) ? "%s" : "%s (not there)", path);
}

/* A list's values are strings one behind the other. */
static char *value_as_text(const struct config_value *setting)
{
	char *text = mem_string("");

	for (const char *value = setting->value; value; value = config_next(setting, value)) {
		char *longer = mem_printf("%s%s%s", text, *text ? " " : "", value);

		mem_free(text);
		text = longer;
	}
	return text;
}

/* What is set, else what it is for */
static void print_setting(const struct output *out, const struct config_row *row)
{
	language_keep(row->value);
	if (row->origin)
		output_line(out, STYLE_STRONG, "%-15s  %s (%s)", row->name, row->value, row->origin);
	else
		output_line(out, STYLE_FAINT, "%-15s  %s", row->name, language_text(row->help));
}

static int config_run(struct jw_error *err, struct cli *cli)
{
	struct config_row rows[CONFIG_SETTINGS] = {{0}};
	struct config_document document = {.rows = rows};
	int result = config_paths(err, &document.account_file, &document.machine_file);

	for (; document.count < CONFIG_SETTINGS; document.count++) {
		const struct config_value *setting = &cli->config.values[document.count];

		rows[document.count] = (struct config_row){.name = setting->name,
												   .value = value_as_text(setting),
												   .origin = setting->origin,
												   .help = setting->help};
	}
	if (!result && output_wants_text(&cli->out)) {
		if (document.account_file)
			print_file(&cli->out, document.account_file);
		print_file(&cli->out, document.machine_file);
		for (size_t i = 0; i < document.count; i++)
			print_setting(&cli->out, &rows[i]);
	}
	if (!result)
		result = document_print(&cli->out, &document_config, &document);
	for (size_t i = 0; i < document.count; i++)
		mem_free(rows[i].value);
	mem_free(document.account_file);
	mem_free(document.machine_file);
	return result;
}

/* What other commands would refuse is refused here, too. */
static const struct cli_option config_options[] = {{.name = "jobs",
													.kind = OPTION_NUMBER,
													.most = 1024,
													.hidden = true,
													.setting = true,
													.only_setting = true},
												   CLI_SETTING(OPTION_SIZE, "max-mem"),
												   CLI_SETTING(OPTION_DURATION, "module-timeout"),

												   {0}};

const struct cli_command command_config = {
	.name = "config",
	.summary = "Show jitwarm's settings, and where each comes from",
	.usage = "[OPTION]…",
	.description =
		"Settings belong to a place, not to a call, and each stands in for an option that is not "
		"given. An environment variable comes first (JITWARM_JOBS for “jobs”), then the account's "
		"file, then the machine's. A line of a file is “name = value”; “#” begins a comment. Root "
		"and administrators read no file that other accounts could change.",
	.examples = "jitwarm config\n",
	.options = config_options,
	.no_operands = "to change a setting, edit its file (“jitwarm config” shows which), or set its "
				   "variable, such as JITWARM_JOBS",
	.run = config_run,
};
