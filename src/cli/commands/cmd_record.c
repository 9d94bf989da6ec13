/* jitwarm record: records the modules that a command compiles. */
#include <jitwarm/record.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/ran_command.h"
#include "cli/parts/reproduce.h"

static void print_record_result(const struct output *out, const struct jw_record_result *result,
								const char *file)
{
	const struct jw_recording *recording = result->recording;
	char bytes[TEXT_SHORT], time[TEXT_SHORT];

	for (size_t i = 0; i < result->note_count; i++)
		output_note(out, "%s", result->notes[i]);
	if (!recording->module_count)
		output_note(
			out, "%s left no entry in its cache in %s; %s", recording->command,
			text_duration(time, result->seconds),
			result->compiler_seen
				? "its processes loaded the driver's compiler: if they compiled anything, the "
				  "command sets CUDA_CACHE_DISABLE or CUDA_CACHE_PATH itself"
				: "the driver's compiler was not seen in its processes");
	else
		output_note(out, "%s had %s compiled, %zu of them from %s", recording->command,
					TEXT_COUNT(recording->module_count, "module", "modules"), result->found,
					TEXT_COUNT(recording->file_count, "file", "files"));
	ran_command_print_elsewhere(out, result);
	ran_command_print_others(out, recording);
	if (result->added)
		output_note(out, "%s added to your cache, which grew by %s",
					TEXT_COUNT(result->added, "entry", "entries"),
					text_bytes(bytes, result->added_bytes));
	if (result->evicted)
		output_warning(out, "%s evicted: set a larger CUDA_CACHE_MAXSIZE",
					   TEXT_COUNT(result->evicted, "old entry", "old entries"));
	if (result->cooled)
		output_warning(out,
					   "%s of them made by the driver in use: what was warm by them is cold again; "
					   "set a larger CUDA_CACHE_MAXSIZE (“jitwarm tune”), or prime fewer packages",
					   TEXT_COUNT(result->cooled, "entry is", "entries are"));
	if (result->refused)
		output_warning(out,
					   "%s not added to your cache: damaged, or of a kind that no driver "
					   "loads",
					   TEXT_COUNT(result->refused, "entry", "entries"));
	if (result->unwarmed.code)
		output_warning(out, "your cache was not warmed: %s", result->unwarmed.message);
	if (result->interrupted)
		output_warning(out, "interrupted: %s has the modules found so far", file);
	if (result->found)
		reproduce_print(out, "to prime just these modules", "jitwarm prime --recording", file);
	else
		output_note(out, "%s: written; it has no module that “jitwarm prime” could compile", file);
}

static int report_record(struct jw_error *err, struct cli *cli, const struct jw_record_options *how,
						 const struct jw_record_result *result)
{
	if (result->not_written.code)
		return error_copy(err, &result->not_written);
	print_record_result(&cli->out, result, how->output);
	cli->status = result->interrupted || result->cooled ? EXIT_COLD : EXIT_DONE;
	return document_print(err, &cli->out, &document_record,
						  &(struct record_document){
							  .file = how->output,
							  .result = *result,
							  .recording = *result->recording,
							  .not_in_files = result->recording->module_count - result->found,
						  });
}

static int record_run(struct jw_error *err, struct cli *cli)
{
	const char *output = options_value(&cli->options, "output");
	struct jw_record_options how = {.size = sizeof how,
									.output = output ? output : "jitwarm-recording.json"};

	return ran_command(err, cli, &how, report_record);
}

static const struct cli_option record_options[] = {
	CLI_VALUE("output", "FILE", "Write the recording to FILE instead of jitwarm-recording.json",
			  .letter = 'o', .names = NAMES_OUTPUT),
	CLI_CACHE,
	CLI_ENVIRONMENT,
	{0}};

const struct cli_command command_record = {
	.name = "record",
	.summary = "Run a command and write down which modules it compiles",
	.usage = "[OPTION]… [PATH|PACKAGE]… -- COMMAND [ARGUMENT]…",
	.description =
		"Runs a command with an empty cache beside yours, and writes down which modules it "
		"compiled, with the time of each and the library that owns it. “jitwarm prime --recording "
		"FILE” then primes just those, here or on any machine with the same files: a recording "
		"holds hashes and places, no code. The results also go into your cache.\n\nOwners are "
		"searched in the named files and packages; without a name, on Linux, in the programs and "
		"libraries that the command's processes load. Modules without an owner (PTX made at run "
		"time, results of a linker) are written down as such.\n\nEnds with the command's exit "
		"status, 127 where there is no such command, 126 where it cannot be started. Its output is "
		"left alone; with --json its standard output goes to standard error.\n\nWhile the command "
		"runs, it receives Ctrl-C. After its end Ctrl-C stops the search for owners; the recording "
		"is written as far as it is known (status 1 where the command's is 0; the same where the "
		"results evict what was warm).",
	.options = record_options,
	.run = record_run,
};
