/* jitwarm record: records the modules that a command compiles. */
#include <jitwarm/record.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/found_files.h"
#include "os/interrupt.h"

/* Exit statuses of env(1), nohup(1) and timeout(1) when the command cannot be started. */
enum { NOT_STARTED = 126, NOT_THERE = 127 };

/* Prints the modules that are in no file, by kind. */
static void print_other_compiles(const struct output *out, const struct jw_recording *recording)
{
	enum { OTHER = JW_RECORDED_JITLINK + 1 };
	static const struct {
		const char *one, *many, *what;
	} kinds[] = {
		[JW_RECORDED_LOAD] = {"module", "modules",
							  "in no file that was looked at: made at run time (NVRTC, Triton), or "
							  "in another file; name such files before “--”"},
		[JW_RECORDED_LINK] = {"input", "inputs",
							  "of run-time linking in no file that was looked at"},
		[JW_RECORDED_JITLINK] = {"entry", "entries",
								 "made by compiler libraries (libnvJitLink, NVRTC)"},
		[OTHER] = {"entry", "entries", "of OpenCL, or of an unknown form"},
	};
	size_t counts[OTHER + 1] = {0}, new = 0;

	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];
		const size_t kind = (size_t)module->kind;

		if (module->file != JW_RECORDED_NO_FILE)
			continue;
		counts[kind < OTHER ? kind : OTHER]++;
		new += module->kind == JW_RECORDED_LOAD && !module->known_before;
	}
	for (size_t i = 0; i <= OTHER; i++)
		if (counts[i])
			output_note(out, "%s %s", TEXT_COUNT(counts[i], kinds[i].one, kinds[i].many),
						kinds[i].what);
	if (counts[JW_RECORDED_LOAD])
		output_note(out, "modules made at run time, or in other files: %zu new to your cache%s",
					new,
					new ? "; a second recording shows whether every run makes the same ones" : "");
}

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
	if (result->elsewhere)
		output_warning(out,
					   "%s appeared in %s meanwhile: of another program, or of the command, if it "
					   "sets CUDA_CACHE_PATH itself",
					   TEXT_COUNT(result->elsewhere, "entry", "entries"),
					   result->elsewhere_dir ? result->elsewhere_dir : "other caches");
	print_other_compiles(out, recording);
	if (result->added)
		output_note(out, "%s added to your cache, which grew by %s",
					TEXT_COUNT(result->added, "entry", "entries"),
					text_bytes(bytes, result->added_bytes));
	if (result->evicted)
		output_warning(out, "%s evicted: set a larger CUDA_CACHE_MAXSIZE",
					   TEXT_COUNT(result->evicted, "old entry", "old entries"));
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
		output_note(out, "%s: “jitwarm prime --recording %s” primes just these modules", file,
					file);
	else
		output_note(out, "%s: written; it has no module that “jitwarm prime” could compile", file);
}

static int record(struct jw_error *err, struct cli *cli, const struct jw_found *found)
{
	const struct options *options = &cli->options;
	const char *output = options_value(options, "output");
	struct jw_record_options how = {
		.size = sizeof how,
		.command = options->operands + options->divided_at,
		.output_to_stderr = cli->out.json,
		.cancel = cli_cancel,
		.output = output ? output : "jitwarm-recording.json",
		.found = found,
	};
	struct jw_record_result *result;
	int failed = 0;

	os_catch_interrupts();
	if (jw_record(err, cli->system, &how, &result)) {
		cli->failure = (enum exit_status)(err->code == JW_ERR_NOT_FOUND ? NOT_THERE : NOT_STARTED);
		return -1;
	}
	if (result->not_written.code) {
		cli_fail(cli, &result->not_written);
	} else {
		print_record_result(&cli->out, result, how.output);
		cli->status = result->interrupted ? EXIT_COLD : EXIT_DONE;
		failed = document_print(err, &cli->out, &document_record,
								&(struct record_document){
									.file = how.output,
									.result = *result,
									.recording = *result->recording,
									.not_in_files = result->recording->module_count - result->found,
								});
	}
	if (failed)
		cli_fail(cli, err);
	/* The command's own status, unless it is 0. */
	if (result->exit_status)
		cli->status = (enum exit_status)result->exit_status;
	jw_record_result_free(result);
	return 0;
}

static int record_run(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;
	struct found_files files = {0};
	int failed;

	if (!options->divided || options->divided_at == options->operand_count)
		return error_set(err, JW_ERR_USAGE, "the command to run is missing: it follows “--”");
	failed = cli_open_asleep(err, cli) ||
			 (options->divided_at &&
			  found_files_find(err, &cli->out, options->operands, options->divided_at, &files)) ||
			 record(err, cli, files.found);
	found_files_free(&files);
	return failed;
}

static const struct cli_option record_options[] = {
	CLI_VALUE("output", "FILE", "Write the recording to FILE instead of jitwarm-recording.json",
			  .letter = 'o'),
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
		"is written as far as it is known (status 1 where the command's is 0).",
	.options = record_options,
	.run = record_run,
};
