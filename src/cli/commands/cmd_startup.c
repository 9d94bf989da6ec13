/* jitwarm startup: priming after each logon. */
#include <string.h>
#include <time.h>

#include <jitwarm/startup.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/next_step.h"
#include "os/console.h"
#include "os/platform.h"

struct startup_document {
	struct jw_startup startup;
	bool enabled;
	struct jw_startup everyone; /* for all accounts; empty if not asked about */
	const cJSON *runs;
};

extern const struct json_table document_run; /* defined in cmd_prime.c */

static const struct json_field item_fields[] = {
	JSON(struct jw_startup_item, where, "a file, or the task's name"),
	JSON(struct jw_startup_item, there, "true: the unit or task exists"),
	JSON_AS("by_jitwarm", struct jw_startup_item, ours, "true: jitwarm has made the unit or task"),
	JSON(struct jw_startup_item, text, "the content that `startup enable` with these names writes"),
	{0},
};

static const struct json_field startup_fields[] = {
	JSON(struct startup_document, enabled,
		 "the task, or all of the units, exist and are jitwarm's"),
	JSON_LIST_OF("items", struct startup_document, startup.items, startup.count,
				 JSON_TABLE(struct jw_startup_item, item_fields), "the units or the task"),
	JSON_LIST_OF(
		"all_users", struct startup_document, everyone.items, everyone.count,
		JSON_TABLE(struct jw_startup_item, item_fields),
		"with `startup status`: what `startup enable --all-users` has set up on this machine"),
	JSON_LINES_OF("commands", struct startup_document, startup.commands, startup.command_count,
				  "the commands that were run for the system, one a line"),
	JSON(
		struct startup_document, startup.failed,
		"why a command for the system failed; then nothing is enabled, and the files are as before",
		.presence = JSON_UNLESS_NULL),
	JSON_READY_OF("runs", struct startup_document, runs, &document_run,
				  "with `startup status`: the last lines of the log"),
	{0},
};
const struct json_table document_startup = {
	.schema = "jitwarm.startup/1",
	.fields = startup_fields,
};

enum { SHOWN_RUNS = 5 };

static bool is_enabled(const struct jw_startup *startup)
{
	bool enabled = startup->count > 0;

	for (size_t i = 0; i < startup->count; i++)
		enabled = enabled && startup->items[i].ours;
	return enabled;
}

static bool is_any_there(const struct jw_startup *startup)
{
	bool any = false;

	for (size_t i = 0; i < startup->count; i++)
		any = any || startup->items[i].there || startup->items[i].removed;
	return any;
}

static int print_document(struct output *out, const struct jw_startup *startup,
						  const struct jw_startup *everyone, char **lines, size_t count)
{
	cJSON *runs = cJSON_CreateArray();
	int result;

	for (size_t i = 0; i < count; i++) {
		cJSON *run = json_parse(NULL, lines[i], strlen(lines[i]));

		if (!run || !cJSON_AddItemToArray(runs, run))
			cJSON_Delete(run);
	}
	result = document_print(
		out, &document_startup,
		&(struct startup_document){.startup = *startup,
								   .enabled = is_enabled(startup),
								   .everyone = everyone ? *everyone : (struct jw_startup){0},
								   .runs = runs});
	cJSON_Delete(runs);
	return result;
}

static void print_items(const struct output *out, const struct jw_startup *startup)
{
	for (size_t i = 0; i < startup->count; i++) {
		const struct jw_startup_item *item = &startup->items[i];

		if (item->ours)
			output_line(out, STYLE_GOOD, "%-14s %s", "installed", item->where);
		else if (item->there)
			output_line(out, STYLE_WARN, "%-14s %s", "not jitwarm's", item->where);
		else
			output_line(out, STYLE_PLAIN, "%-14s %s", item->removed ? "removed" : "missing",
						item->where);
	}
}

/* Returns whether a path is in a folder that a person or the system empties. */
static bool is_in_passing(const char *path)
{
	static const char *const passing[] = {"Downloads", "Temp", "tmp"};

	for (const char *at = path; *at; at += strcspn(at, "/\\")) {
		at += strspn(at, "/\\");
		for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
			if (text_starts_fold(at, passing[i]) && at[strlen(passing[i])] &&
				strchr("/\\", at[strlen(passing[i])]))
				return true;
	}
	return false;
}

/* Prints when it runs, and what that depends on. */
static void print_when(const struct cli *cli, const struct jw_startup *startup)
{
	const struct output *out = &cli->out;
	const char *service = options_value(&cli->options, "service");

	if (service)
		output_line(out, STYLE_PLAIN, "jitwarm runs before each start of %s.", service);
	else if (os_is_windows)
		output_line(
			out, STYLE_PLAIN,
			"On mains power, jitwarm runs two minutes after each logon and after a driver was "
			"installed, and every two hours.");
	else
		output_line(out, STYLE_PLAIN,
					"On mains power, jitwarm runs two minutes after each logon, once a day, and "
					"when packages or the driver change.");
	output_line(out, STYLE_PLAIN,
				"The program that runs is %s: if you move it, run “jitwarm startup enable” again.",
				startup->program);
	if (is_in_passing(startup->program))
		output_warning(out,
					   "%s: files in this folder are often deleted: first move the program to "
					   "another folder, then run “startup enable” there",
					   startup->program);
}

static void print_run(const struct output *out, const char *line)
{
	cJSON *run = json_parse(NULL, line, strlen(line));
	const char *changed = json_text(run, "changed", "");
	time_t when = (time_t)json_count(run, "time_s");
	char time_text[32] = "?", took[TEXT_SHORT];
	const struct tm *local = localtime(&when);

	if (local)
		(void)strftime(time_text, sizeof time_text, "%Y-%m-%d %H:%M", local);
	if (!run || strcmp(json_text(run, "schema", ""), "jitwarm.run/1") != 0)
		;
	else if (json_bool(run, "skipped", false))
		output_line(out, STYLE_FAINT, "%s  nothing had changed, %s", time_text,
					text_duration(took, json_number(run, "seconds", 0)));
	else
		output_line(out, STYLE_PLAIN,
					"%s  changed: %s; %llu compiled, %llu failed, %llu left, %s%s%s", time_text,
					changed, (unsigned long long)json_count(run, "compiled"),
					(unsigned long long)json_count(run, "failed"),
					(unsigned long long)json_count(run, "undone"),
					text_duration(took, json_number(run, "seconds", 0)),
					*json_text(run, "problem", "") ? ": " : "", json_text(run, "problem", ""));
	cJSON_Delete(run);
}

extern const struct cli_command command_startup_enable;

typedef int (*action_fn)(struct jw_error *err, const struct jw_startup_options *options,
						 struct jw_startup **ret_startup);
typedef int (*report_fn)(struct jw_error *err, struct cli *cli, const struct jw_startup *startup);

static int act(struct jw_error *err, struct cli *cli, action_fn action, report_fn report)
{
	const struct options *given = &cli->options;
	const bool enables = cli->command == &command_startup_enable;
	struct jw_startup_options options = {
		.names = given->operands,
		.name_count = given->operand_count,
		.service = options_value(given, "service"),
		.account =
			enables && options_given(given, "service") ? options_value(given, "account") : NULL,
		.everyone = options_given(given, "all-users"),
		.replace = enables && options_given(given, "replace"),
	};
	struct jw_startup *startup = NULL;
	int result =
		options.everyone && action != jw_startup_find && cli_need_administrator(err, "--all-users");

	if (!result && action(err, &options, &startup))
		result = cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	if (!result)
		result = report(err, cli, startup);
	jw_result_free(startup);
	return result;
}

static int report_texts(struct jw_error *err, struct cli *cli, const struct jw_startup *startup)
{
	struct buf text = BUF_MAX(4 << 20);
	int result = 0;

	for (size_t i = 0; !result && i < startup->count; i++)
		result = startup->count > 1 ? buf_printf(err, &text, "%s# %s\n%s", i ? "\n" : "",
												 startup->items[i].where, startup->items[i].text)
									: buf_printf(err, &text, "%s", startup->items[i].text);
	if (!result)
		result = output_script(err, &cli->out, buf_text(&text));
	buf_free(&text);
	return result || print_document(&cli->out, startup, NULL, NULL, 0) ? -1 : 0;
}

static int report_enabled(struct jw_error *err, struct cli *cli, const struct jw_startup *startup)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	(void)err;
	if (startup->failed) {
		output_error(&cli->out, "the system refused the task or units, and nothing was changed: %s",
					 startup->failed);
		/* Units of an account need its systemd, which a login starts; containers have none. */
		if (strstr(startup->failed, " bus") || strstr(startup->failed, "booted with systemd")) {
			if (!options_given(&cli->options, "service"))
				output_note(
					&cli->out,
					"systemd runs units of an account after a login by ssh or at the "
					"machine; sudo and su are no login. To run units without a login, set "
					"XDG_RUNTIME_DIR=/run/user/UID and run “loginctl enable-linger” as root. "
					"Without systemd, as in a container:");
			buf_add(&line, "jitwarm prime --if-changed");
			next_step_names(&line, &cli->options);
			next_step_below(&cli->out, "before your program starts", &line);
		}
	} else {
		print_items(&cli->out, startup);
		print_when(cli, startup);
		if (startup->not_running)
			output_note(&cli->out, "systemd is not running on this machine, so nothing starts "
								   "automatically; in a container, run “jitwarm prime” instead");
	}
	cli->status = startup->failed ? EXIT_FAILED : EXIT_DONE;
	return print_document(&cli->out, startup, NULL, NULL, 0);
}

static int report_disabled(struct jw_error *err, struct cli *cli, const struct jw_startup *startup)
{
	(void)err;
	if (is_any_there(startup))
		print_items(&cli->out, startup);
	else
		output_line(&cli->out, STYLE_PLAIN, "Nothing was set up on this machine.");
	if (startup->failed)
		output_note(&cli->out, "the system reported: %s", startup->failed);
	return print_document(&cli->out, startup, NULL, NULL, 0);
}

static int report_status(struct jw_error *err, struct cli *cli, const struct jw_startup *startup)
{
	static const struct jw_startup_options of_all = {.everyone = true};
	const bool everyone = options_given(&cli->options, "all-users"),
			   own = !everyone && !options_given(&cli->options, "service");
	struct jw_startup *for_all = NULL;
	char *log = NULL, **lines = NULL;
	size_t count = 0;
	int result;

	/* A task that root has enabled for all users also runs for this account. */
	if (own && jw_startup_find(err, &of_all, &for_all))
		return -1;
	/* Each account has its own log. */
	if (!everyone && !jw_log_path(NULL, &log) && jw_log_tail(NULL, log, SHOWN_RUNS, &lines, &count))
		count = 0;
	if (for_all && !is_enabled(for_all)) {
		jw_result_free(for_all);
		for_all = NULL;
	}
	if (for_all) {
		print_items(&cli->out, for_all);
		output_line(&cli->out, STYLE_PLAIN,
					"An administrator has enabled automatic priming for all accounts.");
	}
	if (is_any_there(startup))
		print_items(&cli->out, startup);
	else if (!for_all)
		output_line(
			&cli->out, STYLE_PLAIN,
			"Automatic priming is off on this machine: “jitwarm startup enable” turns it on.");
	for (size_t i = 0; i < count; i++)
		print_run(&cli->out, lines[i]);
	if (!count && !everyone)
		output_line(&cli->out, STYLE_PLAIN, "No run yet.");
	cli->status = for_all || is_enabled(startup) ? EXIT_DONE : EXIT_COLD;
	result = print_document(&cli->out, startup, for_all, lines, count);
	jw_result_free(for_all);
	jw_lines_free(lines, count);
	jw_text_free(log);
	return result;
}

static int startup_enable_run(struct jw_error *err, struct cli *cli)
{
	return options_given(&cli->options, "print") ? act(err, cli, jw_startup_preview, report_texts)
												 : act(err, cli, jw_startup_enable, report_enabled);
}

static int startup_disable_run(struct jw_error *err, struct cli *cli)
{
	return act(err, cli, jw_startup_disable, report_disabled);
}

static int startup_status_run(struct jw_error *err, struct cli *cli)
{
	return act(err, cli, jw_startup_find, report_status);
}

static const struct cli_option enable_options[] = {
	CLI_VALUE("service", "NAME",
			  "Linux, as root: install a system unit that runs before the service NAME (ollama), "
			  "instead of units for this account"),
	CLI_FLAG("all-users", "As an administrator (root): install the task or units for all accounts; "
						  "each account primes its own cache at its logon"),
	CLI_VALUE("account", "NAME",
			  "With --service: prime the cache of the account under which the service runs; "
			  "without this option, root's cache"),
	CLI_FLAG("replace", "Overwrite a task or unit of the same name that is not jitwarm's"),
	CLI_FLAG("print", "Print the units or the task's XML, and install nothing"),
	CLI_ENVIRONMENT,
	{0}};
static const struct cli_option disable_options[] = {
	CLI_VALUE("service", "NAME",
			  "Linux, as root: remove the system unit that runs before the service NAME"),
	CLI_FLAG("all-users", "As an administrator (root): remove the task or units for all accounts"),
	{0}};
static const struct cli_option status_options[] = {
	CLI_VALUE("service", "NAME", "Linux: show the system unit that runs before the service NAME"),
	CLI_FLAG("all-users", "Show the task or units for all accounts"),
	{0}};

const struct cli_command command_startup_enable = {
	.name = "startup enable",
	.summary = "Prime automatically after logon, and when packages change",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Primes the named packages automatically after each logon, and whenever packages or the "
		"driver change.\n\nWithout a name it primes the active environment. On Windows a logon "
		"task of your account runs “jitwarm prime --background --quiet --if-changed”; on Linux a "
		"service of your systemd user manager runs this command, with a timer and a path unit that "
		"watches driver and packages. The command runs at the lowest priority, on mains power "
		"only, and ends at once if nothing has changed. A second call replaces "
		"the first.",
	.examples = "jitwarm startup enable\n"
				"jitwarm startup enable --service ollama --account ollama\n",
	.options = enable_options,
	.run = startup_enable_run,
};

const struct cli_command command_startup_disable = {
	.name = "startup disable",
	.summary = "Remove the task or units of “startup enable”",
	.usage = "[OPTION]…",
	.description = "Removes the task or the units of “jitwarm startup enable”.\n\nA task or unit "
				   "of the same name that jitwarm has not made stays.",
	.examples = "jitwarm startup disable\n",
	.options = disable_options,
	.no_operands = "there is one task or set of units for an account",
	.run = startup_disable_run,
};

const struct cli_command command_startup_status = {
	.name = "startup status",
	.summary = "Show the task or units, and their last runs",
	.usage = "[OPTION]…",
	.description = "Shows the task or units of “jitwarm startup enable”, and what their last runs "
				   "did.\n\nFor each run, the output has time, changes and duration. Tasks and "
				   "units that an administrator has enabled for all users are shown, too.\n\nExit "
				   "status: 1 if the task or units are missing.",
	.examples = "jitwarm startup status\n",
	.options = status_options,
	.no_operands = "there is one task or set of units for an account",
	.reads = true,
	.run = startup_status_run,
};
