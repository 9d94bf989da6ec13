/* jitwarm config: lists the settings with their origins, and changes them. */
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/language.h"
#include "os/file.h"

struct config_document {
	char *account_file, *machine_file;
	struct config_row {
		const char *name;
		char *value;  /* "" if not set */
		char *origin; /* NULL if not set */
		const char *help;
	} * rows;
	size_t count;
};

static const struct json_field kept_setting_fields[] = {
	JSON(struct config_row, name, "the name of the setting"),
	JSON(struct config_row, value,
		 "the value; a list has blanks between its values; absent: not set",
		 .presence = JSON_IF_SET),
	JSON_AS("from", struct config_row, origin,
			"where the value comes from: a variable, or a file and a line number",
			.presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field config_fields[] = {
	JSON_AS("account", struct config_document, account_file,
			"the path of the account's settings file, which need not exist",
			.presence = JSON_UNLESS_NULL),
	JSON_AS("machine", struct config_document, machine_file,
			"the path of the machine's settings file"),
	JSON_LIST_OF("settings", struct config_document, rows, count,
				 JSON_TABLE(struct config_row, kept_setting_fields),
				 "all settings, or the one setting that was named or changed"),
	{0},
};
const struct json_table document_config = {
	.schema = "jitwarm.config/1",
	.text = "`jitwarm config`.",
	.fields = config_fields,
};

static void print_file(const struct output *out, const char *path)
{
	output_line(out, STYLE_FAINT, os_exists(path) ? "%s" : "%s (no such file)", path);
}

/* Prints the value, or, if it is not set, what the setting is for. */
static void print_setting(const struct output *out, const struct config_row *row, bool named)
{
	language_keep(row->value);
	if (row->origin)
		output_line(out, STYLE_STRONG, "%-15s  %s (%s)", row->name, row->value, row->origin);
	else
		output_line(out, STYLE_FAINT, named ? "%-15s  not set: %s" : "%-15s  %s", row->name,
					language_text(row->help));
}

static int config_show(struct jw_error *err, struct cli *cli, struct config_document *document)
{
	static char empty[] = "";
	const char *named = cli->options.operand_count ? cli->options.operands[0] : NULL;
	int result = named ? config_has(err, named) : 0;

	for (size_t i = 0; !result && i < CONFIG_SETTINGS; i++) {
		const struct config_value *setting = &cli->config.values[i];

		if (!named || !strcmp(setting->name, named))
			document->rows[document->count++] =
				(struct config_row){.name = setting->name,
									.value = setting->value ? setting->value : empty,
									.origin = setting->origin,
									.help = setting->help};
	}
	if (!result && output_wants_text(&cli->out)) {
		if (document->account_file && !named)
			print_file(&cli->out, document->account_file);
		if (!named)
			print_file(&cli->out, document->machine_file);
		for (size_t i = 0; i < document->count; i++)
			print_setting(&cli->out, &document->rows[i], named);
	}
	return result;
}

/* Checks a new value like every command, and like the commands that use it. */
static int check_new(struct jw_error *err, struct cli *cli, const char *name, const char *value)
{
	struct config one = {0};
	const int result =
		config_one(err, name, value, "config", &one) || options_settle(err, &cli->options, &one)
			? -1
			: 0;

	config_free(&one);
	return result;
}

static int config_change(struct jw_error *err, struct cli *cli, struct config_document *document)
{
	const struct options *given = &cli->options;
	const char *scope = options_value(given, "scope"), *unset = options_value(given, "unset"),
			   *name = unset ? unset : given->operands[0];
	const bool machine = scope && !strcmp(scope, "system");
	const char *path = machine ? document->machine_file : document->account_file;
	const struct config_value *now = config_find(&cli->config, name);
	struct buf value = BUF_MAX(1 << 16);
	unsigned line = 0;
	int result;

	for (size_t i = 1; !unset && i < given->operand_count; i++)
		buf_add(&value, "%s%s", i > 1 ? " " : "", given->operands[i]);
	if (unset && given->operand_count)
		result =
			error_set(err, JW_ERR_USAGE, "“%.100s”: --unset removes a setting and takes no value",
					  given->operands[0]);
	else
		result = (!unset && check_new(err, cli, name, buf_text(&value))) ||
						 config_write(err, machine, name, unset ? NULL : buf_text(&value), &line)
					 ? -1
					 : 0;
	if (!result) {
		document->count = 1;
		*document->rows = (struct config_row){
			.name = name, .value = arena_string(cli->config.owner, buf_text(&value))};
		if (unset)
			output_line(&cli->out, STYLE_PLAIN,
						line ? "%s is no longer set (%s)" : "%s was not set (%s)", name, path);
		else {
			document->rows->origin = arena_printf(cli->config.owner, "%s, line %u", path, line);
			print_setting(&cli->out, document->rows, true);
		}
		/* Compares with the value that counted before: a variable, and for the machine the
		 * account's file. */
		if (now && !text_starts(now->origin, document->machine_file) &&
			(machine || !text_starts(now->origin, path)))
			output_warning(&cli->out, "%s takes precedence over this setting: %s", now->origin,
						   now->value);
	}
	buf_free(&value);
	return result ? -1 : 0;
}

static int config_run(struct jw_error *err, struct cli *cli)
{
	struct config_row rows[CONFIG_SETTINGS] = {{0}};
	struct config_document document = {.rows = rows};
	const bool changes = cli->options.operand_count > 1 || options_given(&cli->options, "unset");
	int result =
		config_paths(err, cli->config.owner, &document.account_file, &document.machine_file);

	if (!result)
		result = (changes ? config_change : config_show)(err, cli, &document);
	if (!result)
		result = document_print(&cli->out, &document_config, &document);
	return result;
}

/* Values that other commands would refuse are refused here, too. */
static const struct cli_option config_options[] = {
	{.name = "jobs",
	 .kind = OPTION_NUMBER,
	 .least = 1,
	 .most = 1024,
	 .hidden = true,
	 .setting = true,
	 .only_setting = true},
	CLI_MAX_MEM,
	CLI_SETTING(OPTION_DURATION, "module-timeout"),
	CLI_VALUE("unset", "NAME", "Remove the setting NAME from the file"),
	CLI_VALUE("scope", "SCOPE",
			  "Use the file of this account (user; the default) or of this machine (system)",
			  .choices = "user|system"),
	{0}};

const struct cli_command command_config = {
	.name = "config",
	.summary = "Show and change jitwarm's settings",
	.usage = "[OPTION]… [NAME [VALUE…]]",
	.description =
		"Shows jitwarm's settings, or changes the setting NAME for this account or "
		"machine.\n\nWith NAME, config shows this setting. With NAME VALUE, config writes the "
		"setting's line into the file, and keeps all other lines. A command's option has "
		"precedence over an environment variable (JITWARM_JOBS for “jobs”), the variable over the "
		"account's file, and the account's file over the machine's file. A line of a file is “name "
		"= value”; “#” begins a comment. For root and administrators jitwarm reads no file that "
		"other accounts could change.",
	.examples = "jitwarm config\njitwarm config jobs 4\njitwarm config --unset jobs\n",
	.options = config_options,
	.reads = true,
	.sets_values = true,
	.run = config_run,
};
