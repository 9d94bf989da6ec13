/* jitwarm run: runs a command, and prints what its start has compiled. */
#include <stdlib.h>
#include <string.h>

#include <jitwarm/check.h>
#include <jitwarm/record.h>
#include <jitwarm/which.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/module_text.h"
#include "cli/next_step.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/shell.h"

/* ---- the document */

struct command_document {
	const char *file; /* the recording; NULL if there is none */
	struct jw_record_result result;
	struct jw_recording recording;
	struct command_owner {
		struct jw_recorded_file file;
		size_t modules;
		double seconds;
	} * owners; /* sorted by time, the longest first */
	size_t owner_count, not_in_files;
	struct jw_check_failing *failing; /* if the command failed */
	size_t failing_count;
	const char *why_useless; /* "" if programs use the cache */
};

#define COMMAND(member, ...) JSON(struct command_document, member, __VA_ARGS__)

static const struct json_field owner_fields[] = {
	JSON_AS("path", struct command_owner, file.path,
			"the path of the file; if a package has installed it, below the folder of the package"),
	JSON_AS("package", struct command_owner, file.package, "the package that installed the file",
			.presence = JSON_UNLESS_NULL),
	JSON_AS("version", struct command_owner, file.version, "the version of the package",
			.presence = JSON_UNLESS_NULL),
	DOCUMENT_MEMBER(struct command_owner, file.member),
	JSON(struct command_owner, modules, "modules of this file that were compiled"),
	JSON(struct command_owner, seconds,
		 "the predicted time to compile the modules of this file, on one core"),
	{0},
};

static const struct json_field command_fields[] = {
	JSON_AS("recording", struct command_document, file,
			"with `--record`: the file that was written", .presence = JSON_UNLESS_NULL),
	COMMAND(recording.command, "the program's name"),
	COMMAND(
		result.exit_status,
		"the exit status of the command; 128 plus the number of the signal if a signal ended it"),
	COMMAND(result.seconds, "the wall time of the command"),
	JSON_AS("modules", struct command_document, recording.module_count,
			"modules that the driver compiled while the command was running: `in_files` + "
			"`not_in_files`"),
	COMMAND(result.compile_seconds, "the predicted time to compile the modules, on one core"),
	JSON_LIST_OF("files", struct command_document, owners, owner_count,
				 JSON_TABLE(struct command_owner, owner_fields),
				 "the files that hold these modules, the slowest to compile first"),
	JSON_AS("in_files", struct command_document, result.found,
			"modules that the searched files hold"),
	COMMAND(not_in_files, "modules that no searched file holds"),
	COMMAND(result.texts, "modules whose PTX the recording holds", .presence = JSON_IF_SET),
	JSON_LIST_OF("failing", struct command_document, failing, failing_count, &document_failing,
				 "if the command failed: the loaded files, or those that were named, whose device "
				 "code cannot run on a GPU of this machine under its driver"),
	COMMAND(result.not_by_prime,
			"modules among `in_files` that `prime` compiles only with a recording"),
	COMMAND(result.live,
			"true: the command used the driver's cache; false: it had a private cache"),
	JSON_AS("why_useless", struct command_document, why_useless,
			"a line on why programs do not use the cache", .presence = JSON_IF_SET),
	COMMAND(result.added, "entries that were added to the user's cache"),
	COMMAND(
		result.added_bytes,
		"by how many bytes the user's cache grew through entries of the command's private cache"),
	COMMAND(result.there,
			"entries of the command's private cache that the user's cache had already"),
	COMMAND(result.refused,
			"entries that were not added because they are damaged or of an unknown form"),
	COMMAND(result.evicted, "old entries that were evicted to make space for the new ones"),
	JSON_AS("cooled", struct command_document, result.evicted_in_use,
			"evicted entries of the driver in use, whose modules are cold again"),
	JSON_AS("why_not_warmed", struct command_document, result.unwarmed.message,
			"a line on why entries were not added to the user's cache",
			JSON_IF(struct command_document, result.unwarmed.code)),
	COMMAND(result.refused_ptx,
			"a line on an NVRTC of the command that writes newer PTX than the driver reads",
			.presence = JSON_UNLESS_NULL),
	COMMAND(result.compiler_seen,
			"a process of the command had loaded the driver's compiler, which compiles and links; "
			"a process that ended quickly may be missed"),
	COMMAND(result.interrupted,
			"Ctrl-C after the end of the command stopped the search, so `in_files` may be too low"),
	JSON_LINES_OF("notes", struct command_document, result.notes, result.note_count,
				  "files that could not be read, one a line"),
	{0},
};
const struct json_table document_command = {
	.schema = "jitwarm.command/1",
	.text = "The result of `run`.",
	.fields = command_fields,
};

enum { MAX_OWNERS = 8 };

/* The exit statuses of env(1), nohup(1) and timeout(1) if the command cannot be started. */
enum { NOT_STARTED = 126, NOT_THERE = 127 };

enum { OTHER = JW_RECORDED_JITLINK + 1 };

/* Prints for each kind how many modules are in no file. */
static void print_unowned(const struct output *out, const size_t counts[OTHER + 1])
{
	if (counts[JW_RECORDED_LOAD])
		output_note(out,
					"%s in no file that was searched: the program made such code while it ran "
					"(NVRTC, Triton), or the code is in another file; name that file before “--”",
					TEXT_COUNT(counts[JW_RECORDED_LOAD], "module is", "modules are"));
	if (counts[JW_RECORDED_LINK])
		output_note(out, "%s in no file that was searched",
					TEXT_COUNT(counts[JW_RECORDED_LINK], "input of run-time linking is",
							   "inputs of run-time linking are"));
	if (counts[JW_RECORDED_JITLINK])
		output_note(out, "%s made by compiler libraries (libnvJitLink, NVRTC)",
					TEXT_COUNT(counts[JW_RECORDED_JITLINK], "entry", "entries"));
	if (counts[OTHER])
		output_note(out, "%s of OpenCL, or of an unknown form",
					TEXT_COUNT(counts[OTHER], "entry", "entries"));
}

static void print_others(const struct output *out, const struct jw_recording *recording)
{
	size_t counts[OTHER + 1] = {0}, new = 0;

	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];
		const size_t kind = (size_t)module->kind;

		if (module->file != JW_RECORDED_NO_FILE)
			continue;
		counts[kind < OTHER ? kind : OTHER]++;
		new += module->kind == JW_RECORDED_LOAD && !module->known_before;
	}
	print_unowned(out, counts);
	if (counts[JW_RECORDED_LOAD])
		output_note(out, "your cache has %s from the program itself or from other files%s",
					TEXT_COUNT(new, "new module", "new modules"),
					new ? "; run the command again to see whether every run makes the same modules"
						: "");
}

/* ---- the files of the modules */

static int by_owner_time(const void *a, const void *b)
{
	const struct command_owner *left = a, *right = b;

	return (left->seconds < right->seconds) - (left->seconds > right->seconds);
}

/* Returns the files with modules, the most expensive first. If the predicted times exceed the
 * command's own, all are reduced in proportion. The caller frees the array. */
static struct command_owner *owners_of(const struct jw_recording *recording, double compile_seconds)
{
	struct command_owner *owners = mem_array(recording->file_count, sizeof *owners);
	double sum = 0;

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

/* Prints what happened to the entries that a recorded command left in its own cache. */
static void print_kept_entries(const struct output *out, const struct jw_record_result *result)
{
	char bytes[TEXT_SHORT];

	if (result->added)
		output_note(out, "%s added to your cache, which grew by %s",
					TEXT_COUNT(result->added, "entry", "entries"),
					text_bytes(bytes, result->added_bytes));
	if (result->evicted)
		output_warning(out, "%s evicted: set a larger CUDA_CACHE_MAXSIZE",
					   TEXT_COUNT(result->evicted, "old entry", "old entries"));
	module_text_warn_evicted(out, result->evicted_in_use);
	if (result->refused)
		output_warning(out,
					   "%s not added to your cache: damaged, or of a kind that no driver "
					   "loads",
					   TEXT_COUNT(result->refused, "entry", "entries"));
	if (result->unwarmed.code)
		output_warning(out, "your cache was not warmed: %s", result->unwarmed.message);
}

static void print_step(const struct output *out, const char *what, const char *command,
					   const char *word)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&line, "%s", command);
	shell_add_word(&line, word);
	next_step_below(out, what, &line);
}

/* Prints what to do now. */
static void print_advice(const struct output *out, const struct command_document *document)
{
	const struct jw_record_result *result = &document->result;
	uint64_t bytes = 0;
	char size[TEXT_SHORT];

	if (document->file && result->interrupted)
		output_warning(out, "interrupted: %s has the modules found so far", document->file);
	for (size_t i = 0; i < document->recording.text_count; i++)
		bytes += strlen(document->recording.texts[i].zstd);
	if (document->file && result->texts)
		output_note(out, "%s holds PTX of the program itself, for %s (%s)", document->file,
					TEXT_COUNT(result->texts, "module", "modules"), text_bytes(size, bytes));
	if (document->file && (result->found || result->texts))
		print_step(out, "to prime just these modules", "jitwarm prime --recording", document->file);
	else if (document->file)
		output_note(out, "%s: the recording has no module that “jitwarm prime” could compile",
					document->file);
	else if (!result->live)
		output_warning(out, "programs do not use your cache: %s", document->why_useless);
	else if (document->recording.module_count && !result->refused_ptx) {
		if (result->exit_status)
			output_note(out,
						"the modules are in your cache; the command ended with status %d: the next "
						"start may compile more",
						result->exit_status);
		else
			output_note(out, "the modules are in your cache: the next start does not compile them");
		/* `prime` of one name would not compile everything that was compiled. */
		if (result->not_by_prime || document->not_in_files || document->owner_count != 1) {
			output_note(out, "after a driver update, and on other machines: record the command "
							 "(“jitwarm run --record FILE -- …”), and prime the recording");
			return;
		}
		print_step(out, "after a driver update, and on other machines", "jitwarm prime",
				   document->owners[0].file.package ? document->owners[0].file.package
													: document->owners[0].file.path);
	}
}

/* Signals that end a command on request: SIGINT and SIGTERM, as shells count them. */
static bool is_failure(int status)
{
	return status && status != 128 + 2 && status != 128 + 15;
}

/* Checks the files of a command that failed: those that the user has named, else those that its
 * processes had mapped. NULL if it did not fail, or if there is no answer, as without a GPU or
 * driver. */
static struct jw_check_result *check_failed(const struct cli *cli, const struct jw_found *found,
											const struct jw_record_result *result)
{
	struct jw_check_options options = {.system = cli->system, .cancel = cli_cancel};
	struct found_files files = {0};
	struct jw_check_result *check = NULL;
	struct jw_error why;

	if (!is_failure(result->exit_status) || !result->searched_count)
		return NULL;
	if (!found && found_files_find(&why, NULL, (const char *const *)result->searched,
								   result->searched_count, false, &files))
		return NULL;
	options.found = found ? found : files.found;
	if (jw_check(&why, &options, &check))
		check = NULL;
	else
		jw_which_cures(cli->system->state_dir, check);
	found_files_free(&files);
	return check;
}

static void print_failing(const struct output *out, const struct command_document *document)
{
	if (document->failing_count)
		output_warning(
			out,
			document->failing_count == 1
				? "%s failed (status %d), and %zu of its files does not run on this GPU and driver:"
				: "%s failed (status %d), and %zu of its files do not run on this GPU and driver:",
			document->recording.command, document->result.exit_status, document->failing_count);
	for (size_t i = 0; i < document->failing_count && i < MAX_OWNERS; i++) {
		const struct jw_check_failing *failing = &document->failing[i];

		output_note(out, "  %s: %s: %s; %s", failing->file, failing->error, failing->cause,
					failing->cure);
	}
	if (document->failing_count > MAX_OWNERS)
		output_note(out, "  and %s",
					TEXT_COUNT(document->failing_count - MAX_OWNERS, "more file", "more files"));
}

static int report_command(struct jw_error *err, struct cli *cli,
						  const struct jw_record_options *how,
						  const struct jw_record_result *result)
{
	struct command_document document = {
		.file = how->output,
		.result = *result,
		.owner_count = result->recording->file_count,
		.not_in_files = result->recording->module_count - result->found,
		.why_useless = cli->system->cache.why_useless,
	};
	struct jw_check_result *check;
	char ran[TEXT_SHORT];
	int failed;

	if (result->unread.code || result->not_written.code)
		return error_copy(err, result->unread.code ? &result->unread : &result->not_written);
	/* Users type the names of packages. */
	if (!how->output)
		jw_recording_name_files(result->recording, how->found);
	document.recording = *result->recording;
	check = check_failed(cli, how->found, result);
	if (check) {
		document.failing = check->failing;
		document.failing_count = check->failing_count;
	}
	document.owners = owners_of(result->recording, result->compile_seconds);
	for (size_t i = 0; i < result->note_count; i++)
		output_note(&cli->out, "%s", result->notes[i]);
	(void)text_duration(ran, result->seconds);
	if (document.recording.module_count) {
		/* The time of compiling is a prediction; another run shows how long the command takes
		 * without it. */
		output_note(&cli->out, "%s ran %s; %s compiled for it", document.recording.command, ran,
					TEXT_COUNT(document.recording.module_count, "module was", "modules were"));
		for (size_t i = 0; i < document.owner_count && i < MAX_OWNERS; i++)
			output_note(&cli->out, "  %s of %s",
						TEXT_COUNT(document.owners[i].modules, "module", "modules"),
						document.owners[i].file.path);
		if (document.owner_count > MAX_OWNERS)
			output_note(&cli->out, "  and the modules of %s",
						TEXT_COUNT(document.owner_count - MAX_OWNERS, "more file", "more files"));
		print_others(&cli->out, &document.recording);
	} else {
		output_note(&cli->out, "%s ran %s, and the driver compiled nothing into its cache",
					document.recording.command, ran);
		if (cli->system->why_none[0])
			output_warning(&cli->out, "no program can use a GPU here: %s", cli->system->why_none);
		/* A file that does not run explains the compiler that made nothing. */
		if (result->compiler_seen && !result->refused_ptx && !document.failing_count)
			output_warning(&cli->out,
						   "the command's processes loaded the driver's compiler: either they link "
						   "device code at each start, or the "
						   "command sets CUDA_CACHE_DISABLE or CUDA_CACHE_PATH itself");
	}
	if (result->compiler_seen && result->refused_ptx)
		output_warning(&cli->out, "the driver refused PTX of this command: %s",
					   result->refused_ptx);
	if (!result->live)
		print_kept_entries(&cli->out, result);
	print_failing(&cli->out, &document);
	print_advice(&cli->out, &document);
	if (how->output && (result->interrupted || result->evicted_in_use))
		cli->status = EXIT_COLD;
	failed = document_print(&cli->out, &document_command, &document);
	mem_free(document.owners);
	jw_result_free(check);
	return failed;
}

/* ---- running */

static int run_and_report(struct jw_error *err, struct cli *cli,
						  const struct jw_record_options *how)
{
	struct jw_record_result *result;

	os_catch_interrupts();
	if (jw_record(err, cli->system, how, &result)) {
		char word[SHELL_WORD];

		cli->failure = (enum exit_status)(err->code == JW_ERR_NOT_FOUND ? NOT_THERE : NOT_STARTED);
		if (text_ends(how->command[0], ".py") && os_exists(how->command[0]))
			error_set(err, err->code, "%s: a Python script: “jitwarm run -- python3 %s” starts it",
					  how->command[0], shell_word(word, how->command[0]));
		return -1;
	}
	if (report_command(err, cli, how, result))
		cli_fail(cli, err);
	/* The status is the command's own, unless it is 0. */
	cli->status_of_command = result->exit_status != 0;
	if (result->exit_status)
		cli->status = (enum exit_status)result->exit_status;
	jw_result_free(result);
	return 0;
}

static int run_run(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;
	struct jw_record_options how = {.command = options->operands + options->divided_at,
									.output = options_value(options, "record"),
									.output_to_stderr = cli->out.json,
									.cancel = cli_cancel};
	struct found_files files = {0};
	int result;

	if (!options->divided || options->divided_at == options->operand_count)
		return error_set(err, JW_ERR_USAGE, "the command to run is missing: write it after “--”");
	/* Root may store nothing here, so the command runs as it would without jitwarm. */
	if (cli->stateless) {
		(void)os_become_program(err, how.command);
		cli->failure = (enum exit_status)(err->code == JW_ERR_NOT_FOUND ? NOT_THERE : NOT_STARTED);
		return -1;
	}
	how.live = !how.output;
	result = cli_open_asleep(err, cli, options_value(&cli->options, "cache"), JW_ASK_NEVER) ||
					 (options->divided_at && found_files_find(err, &cli->out, options->operands,
															  options->divided_at, false, &files))
				 ? -1
				 : 0;
	if (!result) {
		how.found = files.found;
		if (how.live && !cli->system->cache.limit_set)
			how.limit_bytes = jw_tune_limit(cli->system->cache.outlook.bytes, 0);
		result = run_and_report(err, cli, &how);
	}
	found_files_free(&files);
	return result;
}

static const struct cli_option run_options[] = {
	CLI_VALUE("record", "FILE",
			  "Give the command an empty cache, and write a recording into FILE: the modules that "
			  "the command compiled, for “jitwarm prime --recording FILE”",
			  .names = NAMES_OUTPUT),
	CLI_CACHE,
	CLI_ENVIRONMENT,
	{0}};

const struct cli_command command_run = {
	.name = "run",
	.summary = "Run a command and report what its start compiled",
	.usage = "[OPTION]… [PATH|PACKAGE]… -- COMMAND [ARGUMENT]…",
	.description =
		"Runs a command, then reports how many modules the driver compiled for it, and how to "
		"avoid this at the next start.\n\nThe command gets a driver's cache that is enabled and "
		"large enough, and the results stay in the cache. The report also names the libraries of "
		"the modules, and how long the command ran. If the command fails, the report also names "
		"its libraries that do not run on this GPU and driver, and the remedy for each library. "
		"jitwarm remembers the modules: “jitwarm prime” compiles them first, and “jitwarm check” "
		"says how many are warm.\n\njitwarm counts the entries that were added to the cache while "
		"the command ran, also by other programs; with --record, the command has a cache of its "
		"own. jitwarm looks for the modules in the named files and packages; without a name "
		"(Linux), in the programs and libraries that the command's processes "
		"load.\n\nCUDA_CACHE_MAXSIZE is raised for the command unless it is set. If programs do "
		"not use your cache (CUDA_CACHE_DISABLE, no home directory), the command gets a private "
		"cache, and jitwarm prints the reason.\n\nWith --record the command starts with an empty "
		"cache beside yours, and the results also go into your cache. “jitwarm prime --recording "
		"FILE” then primes just the modules that the command compiled, here or on any machine with "
		"the same files. If a program generates PTX at run time, the recording holds this PTX: "
		"give the recording only to people who may have the program's code. Ctrl-C after the "
		"command's end stops the search for the libraries; then, and if the results evict warm "
		"modules, the status is 1 instead of 0.\n\nExit status: that of the command, 127 if there "
		"is no such command, 126 if it cannot be started. The command's output is left alone; with "
		"--json its standard output goes to standard error.",
	.examples = "jitwarm run -- python train.py\n"
				"jitwarm run --record train.json -- python train.py\n",
	.takes_command = true,
	.options = run_options,
	.runs_anyway = true,
	.run = run_run,
};
