/* jitwarm uninstall: removes everything but the live cache. */
#include <jitwarm/uninstall.h>

#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/document.h"
#include "cli/tune_changes.h"

enum { MAX_REMOVED = 10000 };

struct uninstall_document {
	bool dry_run;
	char **removed;
	size_t count;
};

static const struct json_field uninstall_fields[] = {
	JSON(struct uninstall_document, dry_run, "nothing was removed: `removed` is what would be"),
	JSON_LINES_OF(
		"removed", struct uninstall_document, removed, count,
		"files, registry values, folders (jitwarm's empty one in the driver's cache too)"),
	{0},
};
const struct json_table document_uninstall = {
	.schema = "jitwarm.uninstall/1",
	.fields = uninstall_fields,
};

struct uninstall_report {
	struct cli *cli;
	struct uninstall_document gone;
};

static void on_step(void *context, const struct jw_uninstall_step *step)
{
	struct uninstall_report *report = context;
	const struct output *out = &report->cli->out;
	const char *but = step->keys_stay     ? ", except your keys (--keys removes them too)"
					  : step->others_stay ? ", except for files that are not jitwarm's"
										  : "";

	if (step->said)
		output_note(out, "the system answered: %s", step->said);
	if (step->failed.code)
		output_error(out, "%s", step->failed.message);
	if (!step->where)
		return;
	if (!report->gone.dry_run || !strcmp(step->what, "left"))
		tune_change_print_one(out, step->what, step->where, but);
	else
		output_line(out, STYLE_PLAIN,
					strcmp(step->what, "restored") ? "to remove  %s%s" : "to restore %s%s",
					step->where, but);
	if (*but)
		return;
	mem_add_string(&report->gone.removed, &report->gone.count, MAX_REMOVED, step->where);
}

/* Removes the account's settings. False if they could not be removed. */
static bool remove_settings(struct uninstall_report *report)
{
	struct jw_error failed = {0};
	char *path;
	const bool done =
		!config_remove(&failed, report->cli->config.owner, report->gone.dry_run, &path);

	if (!done || path)
		on_step(report,
				&(struct jw_uninstall_step){.where = path, .what = "removed", .failed = failed});
	return done;
}

static int uninstall_run(struct jw_error *err, struct cli *cli)
{
	const bool dry_run = options_given(&cli->options, "dry-run");
	struct uninstall_report report = {.cli = cli, .gone = {.dry_run = dry_run}};
	const struct jw_uninstall_options options = {.with_keys = options_given(&cli->options, "keys"),
												 .dry_run = dry_run,
												 .context = &report,
												 .step = on_step};
	int result;

	(void)err;
	if (jw_uninstall(&options) || !remove_settings(&report))
		cli_end_with(cli, EXIT_COLD);
	else
		output_line(
			&cli->out, STYLE_PLAIN,
			dry_run
				? "Nothing was changed (--dry-run). The entries of the driver's cache would stay."
				: "The entries of the driver's cache stay. The program can be deleted now.");
	result = document_print(&cli->out, &document_uninstall, &report.gone);
	jw_lines_free(report.gone.removed, report.gone.count);
	return result;
}

static const struct cli_option uninstall_options[] = {
	CLI_FLAG("dry-run", "Report what would be removed, and change nothing", .letter = 'n'),
	CLI_FLAG("keys", "Remove your own signing keys too"),
	{0}};

const struct cli_command command_uninstall = {
	.name = "uninstall",
	.summary = "Remove everything that jitwarm has set up",
	.usage = "[OPTION]…",
	.description = "Removes everything that jitwarm has set up, except the cache's entries and "
				   "your signing keys.\n\nuninstall removes the task or units of “jitwarm "
				   "startup”, the settings of “jitwarm tune” (files are restored byte for byte), "
				   "the compilers of “jitwarm compiler fetch” (except a folder that JITWARM_PTXAS "
				   "names), jitwarm's state, and the account's settings of “jitwarm config”. While "
				   "another jitwarm of this account is running, nothing is removed.\n\nExit "
				   "status: 1 if something could not be removed; the next call tries again.",
	.examples = "jitwarm uninstall -n\njitwarm uninstall\n",
	.options = uninstall_options,
	.no_operands = "uninstall removes all that jitwarm has set up, and nothing else",
	.run = uninstall_run,
};
