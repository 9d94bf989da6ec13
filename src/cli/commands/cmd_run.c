/* jitwarm run: runs a command, and says what its start has compiled. */
#include <stdlib.h>
#include <string.h>

#include <jitwarm/record.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/documents/documents.h"
#include "cli/parts/ran_command.h"
#include "cli/parts/reproduce.h"
#include "os/file.h"

enum { MOST_OWNERS = 8 };

/* ---- whose modules */

static int by_owner_time(const void *a, const void *b)
{
	const struct command_owner *left = a, *right = b;

	return (left->seconds < right->seconds) - (left->seconds > right->seconds);
}

/* The files with modules, the dearest first. Predicted times may be more than the command took:
 * then each is less in proportion. The caller frees the array. */
static struct command_owner *owners_of(struct jw_error *err, const struct jw_recording *recording,
									   double compile_seconds)
{
	struct command_owner *owners = mem_array(err, recording->file_count, sizeof *owners);
	double sum = 0;

	if (!owners)
		return NULL;
	for (size_t i = 0; i < recording->file_count; i++)
		owners[i].file = recording->files[i];
	for (size_t i = 0; i < recording->module_count; i++)
		sum += recording->modules[i].seconds;
	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];

		if (module->file == JW_RECORDED_NO_FILE)
			continue;
		owners[module->file].modules++;
		owners[module->file].seconds += sum > 0 ? module->seconds / sum * compile_seconds : 0;
	}
	if (recording->file_count)
		qsort(owners, recording->file_count, sizeof *owners, by_owner_time);
	return owners;
}

/* ---- the report */

static void print_owners(const struct output *out, const struct command_document *document)
{
	char time[TEXT_SHORT];

	for (size_t i = 0; i < document->owner_count && i < MOST_OWNERS; i++) {
		const struct command_owner *owner = &document->owners[i];

		output_note(out, "  %s of %s: %s", TEXT_COUNT(owner->modules, "module", "modules"),
					owner->file.path, text_duration(time, owner->seconds));
	}
	if (document->owner_count > MOST_OWNERS)
		output_note(out, "  and those of %s",
					TEXT_COUNT(document->owner_count - MOST_OWNERS, "more file", "more files"));
}

static void print_compiled(const struct output *out, const struct command_document *document)
{
	const struct jw_record_result *result = &document->result;
	char ran[TEXT_SHORT], compiled[TEXT_SHORT], warm[TEXT_SHORT];

	output_note(out,
				"%s ran %s; the driver compiled %s for it, in about %s: warm, it takes about %s",
				result->recording->command, text_duration(ran, result->seconds),
				TEXT_COUNT(result->recording->module_count, "module", "modules"),
				text_duration(compiled, result->compile_seconds),
				text_duration(warm, document->warm_seconds));
	print_owners(out, document);
	ran_command_print_others(out, result->recording);
}

/* Nothing appeared in the command's cache. */
static void print_nothing(const struct output *out, const struct jw_record_result *result)
{
	char ran[TEXT_SHORT];

	output_note(out, "%s ran %s, and the driver compiled nothing into its cache",
				result->recording->command, text_duration(ran, result->seconds));
	if (result->compiler_seen)
		output_warning(
			out, "its processes loaded the driver's compiler: they link device code at each "
				 "start, which “jitwarm bake” may end, or the command sets CUDA_CACHE_DISABLE "
				 "or CUDA_CACHE_PATH itself");
}

/* What to do now. */
static void print_advice(const struct output *out, const struct command_document *document)
{
	const struct jw_record_result *result = &document->result;

	if (!result->live) {
		output_warning(out,
					   "programs do not use your cache: %s. Until then “jitwarm bake” puts the "
					   "code into copies of the libraries",
					   document->why_useless);
		return;
	}
	if (document->owner_count) {
		output_note(out, "they are in your cache: the next start does not compile them");
		reproduce_print(out, "after an update of the driver, and on other machines",
						"jitwarm prime",
						document->owners[0].file.package ? document->owners[0].file.package
														 : document->owners[0].file.path);
	}
}

static int report_command(struct jw_error *err, struct cli *cli,
						  const struct jw_record_options *how,
						  const struct jw_record_result *result)
{
	struct command_document document = {
		.result = *result,
		.owner_count = result->recording->file_count,
		.not_in_files = result->recording->module_count - result->found,
		.warm_seconds = result->seconds - result->compile_seconds,
		.why_useless = cli->system->cache.why_useless,
	};
	int failed;

	/* A package's name is what a user types. */
	if (jw_recording_name_files(err, result->recording, how->found))
		return -1;
	document.recording = *result->recording;
	document.owners = owners_of(err, result->recording, result->compile_seconds);
	if (!document.owners)
		return -1;
	for (size_t i = 0; i < result->note_count; i++)
		output_note(&cli->out, "%s", result->notes[i]);
	if (result->recording->module_count)
		print_compiled(&cli->out, &document);
	else
		print_nothing(&cli->out, result);
	ran_command_print_elsewhere(&cli->out, result);
	print_advice(&cli->out, &document);
	failed = document_print(err, &cli->out, &document_command, &document);
	mem_free(document.owners);
	return failed;
}

static int run_run(struct jw_error *err, struct cli *cli)
{
	struct jw_record_options how = {.size = sizeof how, .live = true};

	return ran_command(err, cli, &how, report_command);
}

static const struct cli_option run_options[] = {CLI_CACHE, CLI_ENVIRONMENT, {0}};

const struct cli_command command_run = {
	.name = "run",
	.summary = "Run a command and say what its start has compiled",
	.usage = "[OPTION]… [PATH|PACKAGE]… -- COMMAND [ARGUMENT]…",
	.description =
		"Runs a command with the driver's cache, switched on and with room, and says afterwards "
		"how many modules the driver compiled, of which libraries, how long that took, what the "
		"command takes without it, and what avoids it next time. What was compiled stays in the "
		"cache.\n\nThe modules are the entries that the cache has got meanwhile, those of other "
		"programs that ran at the same time included; “jitwarm record” gives a command a cache of "
		"its own. Their libraries are searched in the named files and packages; without a name, on "
		"Linux, in the programs and libraries that the command's processes load. The times are "
		"those between two entries, or predicted.\n\nCUDA_CACHE_MAXSIZE is raised for the command "
		"unless it is set. Where programs do not use your cache (CUDA_CACHE_DISABLE, no home "
		"directory), the command has a private one, and the reason is said.\n\nEnds with the "
		"command's exit status, 127 where there is no such command, 126 where it cannot be "
		"started. "
		"Its output is left alone; with --json its standard output goes to standard error.",
	.options = run_options,
	.run = run_run,
};
