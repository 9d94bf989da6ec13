/* jitwarm check: whether a first start would compile anything. */
#include <string.h>

#include <jitwarm/check.h>
#include <jitwarm/compiler.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>
#include <jitwarm/which.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/cure.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/gpu_targets.h"
#include "cli/module_text.h"
#include "cli/next_step.h"
#include "cli/verdict_table.h"

/* ---- the document */

struct check_document {
	struct jw_check_result result;
	struct jw_check_gpu sum;
	const char *why_useless;
};

#define GPU(member, ...)          JSON(struct jw_check_gpu, member, __VA_ARGS__)
#define GPU_AS(name, member, ...) JSON_AS(name, struct jw_check_gpu, member, __VA_ARGS__)

static const struct json_field count_fields[] = {
	GPU(modules, "modules that the driver would compile: `warm` + `cold`"),
	GPU(warm, "modules with a sound entry in the cache"),
	GPU(cold, "modules without a sound entry in the cache"),
	GPU(restored, "cold modules that the store restores at once; only `check` counts them"),
	GPU(damaged, "cold modules whose entry is damaged; `prime` replaces the entry"),
	GPU(unread, "cold modules whose entry this account cannot read"),
	GPU(taken,
		"cold modules under whose name the cache has the entry of another module, which `prime` "
		"leaves alone"),
	JSON_MEMBERS_OF(struct jw_check_gpu, fate, &document_fate),
	GPU(unplanned.cannot, "pieces with code that the driver cannot use"),
	GPU(unplanned.lacking,
		"pieces that have no code for this GPU, of files that do not fail: programs that use "
		"these pieces fail"),
	GPU(unplanned.tile,
		"pieces of Tile IR, which the driver compiles at their first load; whether they are "
		"in the cache is unknown"),
	GPU(unplanned.unknown,
		"pieces of a kind that jitwarm does not know, or PTX sources that programs edit"),
	GPU(link, "cold modules that are inputs of a link at start"),
	GPU(left_out, "modules that `--all` would include"),
	GPU(used,
		"of `modules`: those that commands of “jitwarm run” had compiled, on this machine or in a "
		"recording that was primed here"),
	GPU(used_cold, "of `used`: without an entry in the cache"),
	GPU(cold_bytes, "PTX of the cold modules"),
	GPU_AS(
		"predicted_cache_bytes", forecast.cache_bytes,
		"the predicted size of the cold modules' entries: keys, which contain the PTX, and cubins"),
	GPU_AS("predicted_cpu_seconds", forecast.start.likely,
		   "the predicted time to compile the cold modules on one core, as a first start does"),
	GPU_AS("predicted_longest_seconds", forecast.longest_seconds,
		   "the predicted time of the longest cold module"),
	JSON_OBJECT_OF("forecast", struct jw_check_gpu, forecast, &document_forecast,
				   "the predicted times, with how sure they are"),
	{0},
};

static const struct json_field gpu_fields[] = {
	JSON_FORMATTED("target", struct jw_check_gpu, target, document_sm,
				   "the GPU architecture: `sm_86`"),
	JSON_FORMATTED("verdict", struct jw_check_gpu, fate.verdict, document_runs, DOCUMENT_RUNS),
	JSON_SAME(JSON_TABLE(struct jw_check_gpu, count_fields)),
	{0},
};

static const struct json_field file_fields[] = {
	JSON(struct jw_check_file, path, "the path of the library"),
	JSON(struct jw_check_file, member, "for a file inside an archive: its name in the archive",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_check_file, warm, "modules of the library with a sound entry in the cache"),
	JSON(struct jw_check_file, cold, "modules of the library without a sound entry in the cache"),
	JSON(struct jw_check_file, seconds,
		 "the predicted time to compile the file's cold modules on one core"),
	{0},
};

static const struct json_field failing_fields[] = {
	JSON(struct jw_check_failing, file,
		 "the path of the file; for a file inside an archive, with its name in the archive"),
	JSON_FORMATTED("target", struct jw_check_failing, target, document_sm,
				   "the GPU architecture: `sm_86`"),
	JSON(struct jw_check_failing, why, "the reason, in one line"),
	JSON(struct jw_check_failing, error,
		 "what a program prints that fails: `no kernel image is available for execution on the "
		 "device (209)`"),
	JSON(struct jw_check_failing, cause,
		 "the cause, in one line: `toolkit 13.2 requires driver 580 (CUDA 13.0) or newer`"),
	JSON(struct jw_check_failing, cure,
		 "what to do, in one line: install a release or a driver, ask an index for another "
		 "release, or use another build"),
	JSON(struct jw_check_failing, package,
		 "the package that installed the file; missing for conda's packages, or if the driver has "
		 "refused the file's code",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_check_failing, runs,
		 "the newest release of that package that runs on the GPU under this driver, as `which` "
		 "advises it",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_check_failing, install, "the command that installs this release",
		 .presence = JSON_UNLESS_NULL),
	{0},
};

const struct json_table document_failing = {.fields = failing_fields,
											.size = sizeof(struct jw_check_failing)};

static const struct json_field compiler_fields[] = {
	JSON(struct jw_check_compiler, name, "the compiler: `NVRTC`, `NVVM`, `nvJitLink` or `ptxas`"),
	JSON(struct jw_check_compiler, file, "the path of the compiler"),
	JSON(struct jw_check_compiler, fails,
		 "programs that use it fail; false: they compile more slowly"),
	JSON(struct jw_check_compiler, why, "the reason, in one line"),
	{0},
};

static const struct json_field check_fields[] = {
	JSON_LIST_OF("gpus", struct check_document, result.gpus, result.gpu_count,
				 JSON_TABLE(struct jw_check_gpu, gpu_fields),
				 "an object for each GPU architecture of the machine, or of `--target`"),
	JSON_FORMATTED(
		"verdict", struct check_document, result.verdict, document_verdict,
		"the answer, which decides the exit status: `runs`, `warm` (0), `cold`, `partly` "
		"(1), `fails`, "
		"`unsure`, `unknown`, `no-room`, `useless`, `nothing` (2) or `unread` (3)"),
	JSON_MEMBERS_OF(struct check_document, sum, JSON_TABLE(struct jw_check_gpu, count_fields)),
	JSON_OBJECT_OF("cache", struct check_document, result.cache, &document_outlook,
				   "what the driver does with the cache as it is"),
	JSON_FORMATTED("driver", struct check_document, result.driver, document_driver,
				   "the driver in question: `550.163.01 (CUDA 12.4)`"),
	JSON(struct check_document, result.limit_bytes,
		 "the limit of the cache under that driver: `CUDA_CACHE_MAXSIZE`, or the driver's default"),
	JSON(struct check_document, result.names_known,
		 "false: jitwarm cannot predict the names of this driver's entries, so every module counts "
		 "as cold"),
	JSON(struct check_document, why_useless,
		 "a line on driver settings that make a warm cache useless "
		 "(`CUDA_CACHE_DISABLE=1`, `CUDA_FORCE_PTX_JIT=1`, no place for a cache)",
		 .presence = JSON_IF_SET),
	JSON_LIST_OF("files", struct check_document, result.files, result.file_count,
				 JSON_TABLE(struct jw_check_file, file_fields),
				 "the libraries with modules, the slowest to compile first"),
	JSON_LIST_OF(
		"failing", struct check_document, result.failing, result.failing_count, &document_failing,
		"files whose code cannot run on a GPU, so that programs fail; not a variant without code "
		"(a name that differs only in a version or a GPU) if another variant runs"),
	JSON_LIST_OF("compilers", struct check_document, result.compilers, result.compiler_count,
				 JSON_TABLE(struct jw_check_compiler, compiler_fields),
				 "compilers with which programs compile while they run, in the packages and "
				 "folders: those too new for the driver or too old for a GPU"),
	JSON_LINES_OF(
		"notes", struct check_document, result.notes, result.note_count,
		"remarks on modules that were left out and files that could not be read, one a line"),
	{0},
};
const struct json_table document_check = {
	.schema = "jitwarm.check/1",
	.fields = check_fields,
};

/* ---- the text */

/* Prints the command for the cold modules, with the names and the places that were searched. */
static void print_next(const struct cli *cli, const struct jw_check_options *asked,
					   const struct jw_check_result *result)
{
	static const char *const machine[] = {"target", "driver", NULL};
	static const char *const place[] = {"environment", "cache", NULL};
	static const char *const what[] = {"recording", "all", NULL};
	const struct options *options = &cli->options;
	const bool targets = options_given(options, "target"), cache = options_given(options, "cache");
	const bool elsewhere = (targets && !result->here) || asked->driver;
	/* Prime refuses modules that the driver would evict again. */
	const bool tunes =
		!elsewhere && (result->verdict == JW_VERDICT_NO_ROOM ||
					   (!jw_cache_holds(&cli->system->cache, result->all.forecast.cache_bytes) &&
						jw_tune_can_apply(JW_SCOPE_USER)));
	/* “make --fetch” needs a ptxas that has a wheel; the other machine's driver compiles anyway. */
	const bool there = elsewhere && !jw_compiler_has_wheel(&result->driver);
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&line, "jitwarm %s%s", elsewhere && !there ? "make" : "prime", tunes ? " --tune" : "");
	/* A pack is made for a GPU and a driver: those that were not named are this machine's, whose
	 * driver's names are in its library. */
	if (elsewhere && !there) {
		buf_add(&line, "%s", targets ? "" : " --target native");
		next_step_keep(&line, options, machine);
	}
	if (elsewhere && !there && !asked->driver) {
		buf_add(&line, " --driver");
		shell_add_word(&line, cli->system->driver.library);
	}
	if (!there)
		next_step_keep(&line, options, place);
	next_step_keep(&line, options, what);
	buf_add(&line, "%s", elsewhere && !there ? " --fetch -o FILE.jwpack" : "");
	next_step_names(&line, options);
	/* A cache of another machine is filled there. */
	if (elsewhere && cache)
		buf_free(&line);
	else
		next_step(&cli->out, STYLE_PLAIN,
				  verdict_is_trifle(&result->all.forecast.start) ? "Next, if a start takes long: "
				  : there                                        ? "Next, on that machine: "
				  : elsewhere ? "Next, unless that machine has imported a pack: "
							  : "Next: ",
				  &line);
}

/* Prints the line of the GPU, and the faults of its entries. */
static void print_gpu(const struct output *out, const struct jw_check_gpu *gpu,
					  const struct jw_check_result *result)
{
	const struct verdict_row row = verdict_checked(result, gpu);
	struct buf answer = BUF_MAX(VERDICT_SENTENCE);
	char name[GPUS_NAME], text[MODULE_TEXT];
	enum style style;

	style = verdict_print(&answer, &row, VERDICT_OF | (row.failing ? VERDICT_PTX : VERDICT_PRIME));
	output_line(out, style, "%s: %s", gpu_targets_name(name, out, gpu->target), buf_text(&answer));
	buf_free(&answer);
	if (row.nameless && gpu->cold)
		return;
	if (row.failing && gpu->cold)
		output_line(out, STYLE_PLAIN, "%s", forecast_text(text, "  ", &gpu->forecast, ""));
	if (gpu->used && gpu->used_cold)
		output_line(out, STYLE_PLAIN, "  your runs used %zu of %s; %zu of the used ones are cold",
					gpu->used, TEXT_COUNT(gpu->modules, "module", "modules"), gpu->used_cold);
	else if (gpu->used)
		output_line(out, STYLE_GOOD, "  your runs used %zu of %s; all of the used ones are warm",
					gpu->used, TEXT_COUNT(gpu->modules, "module", "modules"));
	if (gpu->restored)
		output_line(out, STYLE_PLAIN,
					"  “jitwarm prime” restores %zu of the modules from the store at once",
					gpu->restored);
	if (gpu->damaged)
		output_line(out, STYLE_BAD,
					"  %zu of the modules %s damaged in the cache; “jitwarm prime” replaces %s",
					gpu->damaged, gpu->damaged == 1 ? "is" : "are",
					gpu->damaged == 1 ? "it" : "them");
	if (gpu->unread)
		output_line(
			out, STYLE_BAD,
			"  %zu of the modules: the entry is in the cache, but this account cannot read it",
			gpu->unread);
	if (gpu->taken)
		output_line(out, STYLE_BAD,
					"  %zu of the modules: an entry of another module has the same name, as "
					"“jitwarm prime” shows",
					gpu->taken);
	if ((row.failing || !gpu->cold) && module_text_link(text, "  ", gpu->link, &gpu->forecast, ""))
		output_line(out, STYLE_PLAIN, "%s", text);
}

enum { ANSWER_TEXT = 1 << 13 }; /* with a path */

/* Why there is no answer: the names of the driver's entries are not known. Returns `text`. */
static const char *nameless_text(char text[ANSWER_TEXT], const struct jw_check_options *asked,
								 const struct jw_check_result *result)
{
	const struct jw_driver *driver = &result->driver;
	const bool unknown = !driver->cuda && !driver->release[0], exact = driver->release[1] != 0;
	char name[JW_DRIVER_TEXT], names[JW_DRIVER_NAMES];
	struct jw_target targets[GPUS_MAX];
	size_t count = 0;

	for (; count < result->gpu_count && count < GPUS_MAX; count++)
		targets[count] = result->gpus[count].target;
	if (unknown || (!exact && result->named))
		(void)text_format(
			text, ANSWER_TEXT,
			"cannot tell which modules are warm: name the driver with its full version (--driver "
			"%s), or check on a machine with this driver",
			unknown ? jw_driver_example(targets, count) : result->named);
	else
		/* As it was typed: 550.1 is not answered as 550.01. */
		(void)text_format(text, ANSWER_TEXT,
						  "cannot tell: jitwarm does not know the names of driver %s's cache "
						  "entries; jitwarm knows the names for driver %s and others (“--driver "
						  "list” names all). Check on a machine with this driver",
						  asked->driver && driver->release[0] ? asked->driver
															  : jw_driver_text(name, driver),
						  jw_driver_names(names, driver));
	return text;
}

/* The answer for each GPU, and the files with which programs fail. */
static void print_answer(const struct output *out, const struct jw_check_result *result)
{
	for (size_t i = 0; result->images && i < result->gpu_count; i++)
		print_gpu(out, &result->gpus[i], result);
	for (size_t i = 0; i < result->failing_count; i++)
		output_line(out, STYLE_BAD, "  %s: %s", result->failing[i].file, result->failing[i].why);
}

/* Prints the compilers that do not fit. */
static void print_compilers(const struct output *out, const struct jw_check_result *result)
{
	for (size_t i = 0; i < result->compiler_count; i++) {
		const struct jw_check_compiler *compiler = &result->compilers[i];

		output_line(out, compiler->fails ? STYLE_WARN : STYLE_PLAIN,
					compiler->version ? "%s (%s %s)" : "%s (%s)", compiler->why,
					compiler->package ? compiler->package : compiler->file, compiler->version);
	}
}

/* Writes what is too small for the results, as `prime` says it. Returns `text`. */
static const char *no_room_text(char text[ANSWER_TEXT], const struct jw_check_result *result,
								const struct jw_cache_info *cache)
{
	const uint64_t more = result->all.forecast.cache_bytes;
	char size[TEXT_SHORT], room[TEXT_SHORT], driver[JW_DRIVER_TEXT];

	if (!result->here && more > result->limit_bytes)
		(void)text_format(text, ANSWER_TEXT,
						  "The limit of %s (driver %s) is too small, %s are needed: set "
						  "CUDA_CACHE_MAXSIZE=%llu there.",
						  text_bytes(room, result->limit_bytes),
						  jw_driver_number(driver, &result->driver), text_bytes(size, more),
						  (unsigned long long)jw_tune_limit(0, more));
	else if (more > cache->free_bytes)
		(void)text_format(
			text, ANSWER_TEXT,
			"Only %s are free at %s, and %s are needed: free some space, or name another "
			"directory (CUDA_CACHE_PATH).",
			text_bytes(room, cache->free_bytes), cache->path, text_bytes(size, more));
	else
		(void)text_format(text, ANSWER_TEXT, "The limit of %s is too small, %s are needed.",
						  text_bytes(room, cache->limit_bytes),
						  text_bytes(size, result->needed_bytes));
	return text;
}

/* Returns whether the limit of this machine's cache keeps `prime` from compiling, and `prime
 * --tune` raises it. */
static bool is_limit_small(const struct jw_check_result *result)
{
	return result->verdict == JW_VERDICT_NO_ROOM && result->here &&
		   result->needed_bytes > result->limit_bytes && jw_tune_can_apply(JW_SCOPE_USER);
}

static int check_run(struct jw_error *err, struct cli *cli)
{
	const struct options *given = &cli->options;
	struct jw_check_options options = {
		.named = given->operands,
		.named_count = given->operand_count,
		.driver = options_value(given, "driver"),
		.everything = options_given(given, "all"),
		.cancel = cli_cancel,
	};
	const char *cache = options_value(given, "cache"),
			   *recorded = options_value(given, "recording");
	const bool targets = options_given(given, "target");
	struct jw_recording *recording = NULL;
	struct jw_check_result *result = NULL;
	struct found_files files = {0};
	struct gpu_targets gpus;
	char text[ANSWER_TEXT];
	int failed = -1;

	if (gpu_targets_read(err, cli, &gpus) ||
		cli_open_asleep(err, cli, cache,
						gpus.count && options.driver ? JW_ASK_NEVER : JW_ASK_UNCERTAIN) ||
		found_files_recorded(err, cli, recorded, false, &recording, &files))
		goto done;
	if (!gpus.count && !cli->system->gpu_count) {
		cli->failure = EXIT_CANNOT;
		error_set(err, JW_ERR_NOT_FOUND, "%s; “--target %s --driver %s” asks about another machine",
				  cli->system->why_none, cli->system->example, cli->system->example_driver);
		goto done;
	}
	options.found = files.found;
	options.system = cli->system;
	options.targets = gpus.targets;
	options.target_count = gpus.count;
	options.recording = recording;
	options.store = cli->uses_store;
	options.required = jw_which_required;
	if (jw_check(err, &options, &result)) {
		if (err->code == JW_ERR_NOT_FOUND || err->code == JW_ERR_UNSUPPORTED)
			cli->failure = EXIT_CANNOT;
		goto done;
	}
	jw_which_cures(cli->system->state_dir, result);
	/* The verdict says whether nothing was judged. */
	if (!result->images && !result->troubles && !recording)
		(void)found_files_none(cli, files.found);
	if (result->verdict == JW_VERDICT_NOTHING && !recording)
		output_line(&cli->out, STYLE_PLAIN,
					"Exit status 2: nothing was checked. 0 needs a package, a file or -e DIR.");
	if (!result->names_known && result->all.modules)
		output_warning(&cli->out, "%s", nameless_text(text, &options, result));
	if (!result->images && recording &&
		(result->verdict == JW_VERDICT_NOTHING || result->verdict == JW_VERDICT_RUNS))
		output_line(&cli->out, STYLE_PLAIN,
					"Nothing to compile: the driver compiles none of these files for these GPUs.");
	if (!result->images && result->verdict == JW_VERDICT_WARM)
		output_line(&cli->out, STYLE_GOOD,
					"Warm: the cache has the recorded modules, which are in no file.");
	if (result->verdict == JW_VERDICT_NO_ROOM)
		output_line(&cli->out, STYLE_WARN, "%s", no_room_text(text, result, &cli->system->cache));
	print_answer(&cli->out, result);
	cures_print_checked(cli, result, targets);
	print_compilers(&cli->out, result);
	if (result->names_known && result->all.cold &&
		(result->verdict == JW_VERDICT_COLD || is_limit_small(result)))
		print_next(cli, &options, result);
	/* The notes of the search come first, and were printed as it went on. */
	plan_notes_print(&cli->out, given, result->notes + files.found->note_count,
					 result->note_count - files.found->note_count, result->assumptions);
	if (result->cache.text[0])
		output_warning(&cli->out, "%s; %s", result->cache.text, result->cache.next_step);
	cli_end_with(cli, exit_of_verdict(result->verdict));
	if (result->verdict == JW_VERDICT_COLD && !options.driver)
		cli_warn_of_settings(cli);
	if (result->verdict == JW_VERDICT_USELESS)
		cli_warn_useless(cli);
	failed =
		document_print(&cli->out, &document_check,
					   &(struct check_document){
						   .result = *result,
						   .sum = result->all,
						   .why_useless = options.driver ? "" : cli->system->cache.why_useless});
done:
	jw_result_free(result);
	found_files_free(&files);
	jw_result_free(recording);
	return failed;
}

static const struct cli_option check_options[] = {
	GPUS_OPTIONS,
	CLI_ENVIRONMENT,
	CLI_CACHE,
	CLI_FLAG("all", "Include modules that libraries load only when they need them, and loose files "
					"in test folders of packages"),
	CLI_VALUE("recording", "FILE",
			  "Check only the modules that this recording of “jitwarm run” names or holds",
			  .names = NAMES_FILE),
	{0},
};

const struct cli_command command_check = {
	.name = "check",
	.summary = "Report whether a first start would compile anything",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Says whether the first start of programs would compile anything, without starting the "
		"programs.\n\nWithout a name, check examines the active Python environment. jitwarm "
		"computes the name of each entry that the driver will look for in its cache, and looks for "
		"the entry under this name. An entry counts if it is whole and the driver loads it. "
		"Neither driver nor GPU is needed. The contents of files and entries are remembered, so a "
		"second check is quick.\n\nExit status: 0 if everything is warm, 1 if something is cold or "
		"cannot be read, or if the driver would delete or ignore warm entries (a missing or "
		"damaged index), 2 if jitwarm cannot help: a program will fail because no code runs on the "
		"GPU or the driver refuses the code, settings keep the driver from using its cache, or a "
		"whole environment or folder has no device code (for a package without any it is 0), 3 "
		"if nothing could be read.",
	.examples = "jitwarm check tensorflow\njitwarm check --environment ~/venv\n",
	.options = check_options,
	.reads = true,
	.run = check_run,
};
