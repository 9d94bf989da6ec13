/* jitwarm uninstall: removes everything but the live cache. */
#include <jitwarm/uninstall.h>

#include <jitwarm/bake.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/tune_changes.h"

struct uninstall_document {
	char **removed;
	size_t count;
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

enum { MOST_REMOVED = 10000 };

struct uninstall_report {
	struct cli *cli;
	struct uninstall_document gone;
};

static void on_step(void *context, const struct jw_uninstall_step *step)
{
	struct uninstall_report *report = context;
	const struct output *out = &report->cli->out;

	if (step->said)
		output_note(out, "the system said: %s", step->said);
	if (step->failed.code)
		output_error(out, "%s", step->failed.message);
	if (!step->where)
		return;
	tune_change_print_one(out, step->what, step->where,
						  step->keys_stay     ? ", except your keys (--keys removes them too)"
						  : step->others_stay ? ", except for other files in it"
											  : "");
	if (step->keys_stay || step->others_stay)
		return;
	mem_add_string(&report->gone.removed, &report->gone.count, MOST_REMOVED, step->where);
}

static int uninstall_run(struct jw_error *err, struct cli *cli)
{
	struct uninstall_report report = {.cli = cli};
	const struct jw_uninstall_options options = {
		.with_keys = options_given(&cli->options, "keys"), .context = &report, .step = on_step};
	int result;

	(void)err;
	if (jw_uninstall(&options))
		cli_end_with(cli, EXIT_COLD);
	else
		output_line(&cli->out, STYLE_PLAIN,
					"The entries of the driver's cache stay. The program can be deleted now.");
	result = document_print(&cli->out, &document_uninstall, &report.gone);
	jw_lines_free(report.gone.removed, report.gone.count);
	return result;
}

static const struct cli_option uninstall_options[] = {
	CLI_FLAG("keys", "Remove your own signing keys too"), {0}};

const struct cli_command command_uninstall = {
	.name = "uninstall",
	.summary = "Remove everything that jitwarm has set up",
	.usage = "[OPTION]…",
	.description =
		"Removes the task or units of “startup”, the settings of “tune” (files "
		"are restored byte for byte), the compilers of “compiler fetch” (except a "
		"folder that JITWARM_PTXAS names) and jitwarm's state. The entries of the cache "
		"and your signing keys stay. Exit status: 1 if something could not be removed; the "
		"next call tries it again.",
	.examples = "jitwarm uninstall\n",
	.options = uninstall_options,
	.no_operands = "uninstall removes all that jitwarm has set up, and nothing else",
	.run = uninstall_run,
};
