#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/prime.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/module_text.h"
#include "cli/parts/next_step.h"
#include "cli/parts/prime_text.h"
#include "cli/parts/tune_changes.h"
#include "cli/progress.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/platform.h"
#include "os/shell.h"

struct prime_outcome {
	struct cli *cli;
	struct jw_recording *recording; /* NULL: not given */
	struct nvrtc_options nvrtc;
	struct found_files files;
	struct target_machine elsewhere;
	struct prime_share share;
	struct unattended unattended;
	struct prime_bar bar;
	bool only_plan;
	bool for_others; /* “jitwarm make” */
};

extern const struct cli_command command_make;

enum { LOG_LINES = 6 };

static void print_failure(const struct prime_outcome *priming,
						  const struct jw_prime_failure *failure)
{
	const struct output *out = &priming->cli->out;
	struct buf line = BUF_MAX(NEXT_STEP_MOST);
	char target[JW_TARGET_TEXT];

	output_warning(out, "%s%s%s at 0x%llx (%s): %s", failure->path, failure->member ? ": " : "",
				   failure->member ? failure->member : "", (unsigned long long)failure->offset,
				   jw_target_sm(target, failure->target), failure->reason);
	output_log(out, output_warning, failure->log, LOG_LINES);
	next_step_failure(&line, &priming->cli->options, failure);
	next_step_below(out, "to see it again", &line);
}

/* Programs of this account use the folder as it is. */
static bool is_own_cache(const char *path)
{
	const struct jw_system_options how = {.asleep = true};
	struct jw_system *here;
	bool own;

	if (jw_system_open(NULL, &how, &here))
		return false;
	own = here->cache.path && !strcmp(here->cache.path, path);
	jw_system_free(here);
	return own;
}

static void print_where(const struct prime_outcome *priming, const struct jw_prime_result *result)
{
	const char *path = priming->cli->system->cache.path;
	char driver[JW_DRIVER_TEXT];

	if (result->compiled && !result->failed && !result->undone && !priming->cli->system->scratch)
		output_line(&priming->cli->out, STYLE_PLAIN,
					is_own_cache(path)
						? "%s has what driver %s looks for there."
						: "%s has what driver %s looks for there (set CUDA_CACHE_PATH).",
					path, jw_driver_text(driver, &priming->cli->system->driver.version));
}

/* Prints each failed module with the driver's log and the command that reproduces it, the modules
 * left undone and the reason, and the next step. */
static void prime_outcome_print_result(const struct prime_outcome *priming,
									   const struct jw_prime_result *result)
{
	const struct output *out = &priming->cli->out;
	const struct jw_cache_info *cache = &priming->cli->system->cache;
	char time[TEXT_SHORT], bytes[TEXT_SHORT];

	for (size_t i = 0; i < result->failure_count; i++)
		print_failure(priming, &result->failures[i]);
	if (result->opaque)
		output_warning(
			out,
			"jitwarm does not know the form of this driver's cache: the driver filled it "
			"in %s and added %s; their kinds are unknown",
			text_duration(time, result->seconds), TEXT_COUNT(result->compiled, "entry", "entries"));
	else if (result->compiled)
		prime_print_compiled(out, result);
	else if (result->met && !result->undone && !result->failed)
		output_line(out, STYLE_GOOD, "Warm: the other run has compiled %s.",
					result->met == 1 ? "the one module" : "all of them");
	prime_share_print(out, &priming->share, result);
	if (result->repaired)
		output_line(out, STYLE_GOOD, "The cache's index is repaired.");
	if (result->evicted)
		output_warning(out,
					   "%s evicted, as at a driver's own insert: the cache keeps %s "
					   "(CUDA_CACHE_MAXSIZE)",
					   TEXT_COUNT(result->evicted, "old entry", "old entries"),
					   text_bytes(bytes, priming->cli->system->cache.limit_bytes));
	if (result->cooled)
		output_warning(out,
					   "%s of them made by the driver in use: what they kept warm is cold again; "
					   "set a larger CUDA_CACHE_MAXSIZE (“jitwarm tune”), or prime fewer packages",
					   TEXT_COUNT(result->cooled, "entry is", "entries are"));
	if (result->failed)
		output_warning(out, "%s could not be compiled",
					   TEXT_COUNT(result->failed, "module", "modules"));
	if (result->interrupted)
		output_warning(out, "interrupted with %s left%s",
					   TEXT_COUNT(result->undone, "module", "modules"),
					   priming->cli->system->scratch ? "" : "; the same command compiles the rest");
	else if ((result->out_of_time || result->plan.over_budget) && !result->stopped.code &&
			 !priming->only_plan)
		prime_print_left(out, result,
						 !priming->for_others &&
							 options_given(&priming->cli->options, "budget-size"));
	else if (priming->elsewhere.given)
		print_where(priming, result);
	else if ((result->compiled || result->shared.fetched) && !result->failed && !result->undone &&
			 !result->opaque) {
		if (!tune_change_print_login(out, cache,
									 cache->outlook.bytes + result->plan.forecast.cache_bytes))
			output_line(out, STYLE_PLAIN,
						priming->recording ? "No recorded module is left to compile here."
						: result->plan.hopeless
							? "Start your program again: it has nothing left to compile, but fails "
							  "where it uses what cannot run."
						: result->plan.tile || result->plan.unknown
							? "Start your program again: it has nothing left to compile, but for "
							  "code of which jitwarm cannot tell."
						: result->plan.left_out || result->plan.cannot
							? "Start your program again: of these files it compiles at most what "
							  "was left out."
							: "Start your program again: it has nothing left to compile.");
	}
	if (result->plan.too_much)
		output_error(out, "%s", result->stopped.message);
	else if (result->stopped.code)
		output_error(out, "stopped with %s left: %s",
					 TEXT_COUNT(result->undone, "module", "modules"), result->stopped.message);
}

static int prime_outcome_document(const struct prime_outcome *priming,
								  const struct jw_prime_result *result)
{
	const struct jw_store_refilled *refilled = &result->reuse.refilled;
	const struct jw_carry_result *carried = result->reuse.carried;
	const struct export_document pack = {.file = priming->elsewhere.pack.output,
										 .result = result->pack ? *result->pack
																: (struct jw_export_result){0}};
	struct prime_document values = {
		.result = *result,
		.failures = mem_array(result->failure_count, sizeof *values.failures),
		.peak_supervisor_bytes = os_peak_resident_bytes(),
		.refilled = refilled->entries || refilled->note_count ? refilled : NULL,
		.carried = carried && carried->group_count ? carried : NULL,
		.pack = result->pack ? &pack : NULL,
		.shared = priming->share.options.place ? &result->shared : NULL,
	};
	int failed = values.failures ? 0 : -1;

	values.result.plan.cold += result->plan.over_budget + result->plan.restored;
	values.result.plan.warm -= priming->only_plan ? 0 : result->plan.restored;
	for (size_t i = 0; !failed && i < result->failure_count; i++) {
		struct prime_failure *failure = &values.failures[i];
		struct buf line = BUF_MAX(NEXT_STEP_MOST);

		failure->failure = result->failures[i];
		next_step_failure(&line, &priming->cli->options, &result->failures[i]);
		failure->command = next_step_take(&line);
		failed = failure->command ? 0 : -1;
	}
	failed = failed || document_print(&priming->cli->out, &document_prime, &values);
	for (size_t i = 0; values.failures && i < result->failure_count; i++)
		mem_free(values.failures[i].command);
	mem_free(values.failures);
	return failed ? -1 : 0;
}

/* EXIT_CANNOT for a driver that does not cache, or a cache whose files cannot be locked; a full
 * cache is work left undone. */
static enum exit_status prime_outcome_status_of_error(const struct jw_error *err)
{
	switch ((int)err->code) {
	case JW_ERR_UNSUPPORTED: return EXIT_CANNOT;
	case JW_ERR_LIMIT: return EXIT_COLD;
	default: return exit_of(err->code);
	}
}

static enum exit_status prime_outcome_status(const struct prime_outcome *priming,
											 const struct jw_prime_result *result)
{
	const struct jw_found *found = priming->files.found;
	const size_t troubles = result->troubles + (found ? found->trouble_count : 0);
	/* Recorded files that are missing here count as work left undone. */
	enum exit_status status = exit_of_troubles(troubles, priming->recording ? 1 : result->images);

	if (priming->only_plan || result->verdict == JW_VERDICT_NOTHING)
		status = exit_combine(status, exit_of_verdict(result->verdict));
	if (priming->only_plan)
		return status;
	/* A module without an entry cannot be shown to be warm. */
	if (result->interrupted || result->undone || result->failed > result->refused ||
		result->unchanged || result->misjudged || result->plan.over_budget || result->cooled)
		status = exit_combine(status, EXIT_COLD);
	if (result->plan.hopeless || result->refused || result->plan.tile || result->plan.unknown)
		status = exit_combine(status, EXIT_CANNOT);
	/* The reason why modules are left undone. */
	if (result->stopped.code)
		status = exit_combine(result->stopped.code == JW_ERR_UNSUPPORTED ? EXIT_DONE : status,
							  prime_outcome_status_of_error(&result->stopped));
	return status;
}

static bool on_planned(void *context, const struct jw_prime_result *result)
{
	struct prime_outcome *priming = context;

	prime_bar_end(&priming->bar);
	if (*result->inexact)
		output_warning(&priming->cli->out, "%s", result->inexact);
	prime_print_reuse(&priming->cli->out, result, priming->only_plan);
	if (result->sources_failed && !result->images)
		return true;
	if (result->images || priming->recording)
		prime_print_plan(&priming->cli->out, result, priming->for_others);
	else if (!result->troubles)
		found_files_none(priming->cli, priming->files.found);
	return true;
}

static void on_prime_progress(void *context, const struct jw_prime_progress *progress)
{
	struct prime_outcome *priming = context;

	prime_bar_report(&priming->bar, progress);
}

static void on_message(void *context, const char *line)
{
	struct prime_outcome *priming = context;

	prime_bar_message(&priming->bar, line);
}

static void on_source(void *context, const struct jw_prime_source *source)
{
	const struct prime_outcome *priming = context;

	nvrtc_options_print(priming->cli, source);
}

/* Prints the outcome of a run. */
static int conclude(struct prime_outcome *priming, const struct jw_prime_result *result)
{
	struct cli *cli = priming->cli;
	struct unattended *unattended = &priming->unattended;
	int failed;

	unattended->modules = result->plan.modules;
	unattended->compiled = result->compiled;
	unattended->failed = result->failed;
	unattended->undone = result->undone;
	TEXT_COPY(unattended->problem, error_text(&result->stopped));
	unattended->saved_seconds = result->compile_cpu_seconds + result->shared.saved_seconds;
	if (!priming->only_plan)
		unattended->restored = result->reuse.refilled.entries + result->shared.fetched +
							   (result->reuse.carried ? result->reuse.carried->carried : 0);
	plan_notes_print(&cli->out, result->notes, result->note_count, result->assumptions, false);
	cli_end_with(cli, prime_outcome_status(priming, result));
	prime_outcome_print_result(priming, result);
	if (result->pack)
		pack_report_print(&cli->out, priming->elsewhere.pack.output, result->pack);
	failed = prime_outcome_document(priming, result);
	if (result->not_packed.code) {
		cli_hopeless(&result->not_packed, cli, JW_ERR_UNSUPPORTED);
		cli_fail(cli, &result->not_packed);
	}
	if (result->not_remembered.code)
		output_warning(&cli->out, "this run could not be remembered: %s",
					   result->not_remembered.message);
	if (result->reuse.not_kept.code)
		output_warning(&cli->out, "the results were not added to the store: %s",
					   result->reuse.not_kept.message);
	return failed;
}

/* What is of this machine's own cache. */
static void take_prime_options(const struct cli *cli, struct jw_prime_options *options)
{
	options->budget_bytes = options_number(&cli->options, "budget-size", 0);
	options->budget_ms = options_number(&cli->options, "budget-time", 0);
	options->low_priority = options_given(&cli->options, "background");
	options->no_store = options_given(&cli->options, "no-store");
	options->carry_over = options_given(&cli->options, "carry-over");
	options->recompile_carried = options_given(&cli->options, "recompile-carried");
}

static int work_of_prime(struct jw_error *err, struct prime_outcome *priming)
{
	struct cli *cli = priming->cli;
	struct jw_prime_options options = {
		.paths = priming->files.paths,
		.path_count = priming->files.count,
		.retried = cli->options.operands,
		.retried_count = cli->options.operand_count,
		.everything = options_given(&cli->options, "all"),
		.recording = priming->recording,
		.jobs = (unsigned)options_number(&cli->options, "jobs", 0),
		.max_memory_bytes = options_number(&cli->options, "max-mem", 0),
		.dry_run = priming->only_plan,
		.module_timeout_ms = options_number(&cli->options, "module-timeout", 0),
		.context = priming,
		.planned = on_planned,
		.progress = on_prime_progress,
		.message = on_message,
		.nvrtc = &priming->nvrtc.how,
		.source = on_source,
		.run = priming->unattended.state,
		.pack = priming->elsewhere.pack.output ? &priming->elsewhere.pack : NULL,
		.share = priming->share.options.place ? &priming->share.options : NULL,
		.cancel = cli_cancel,
	};
	struct fetching fetching = {.output = &cli->out, .label = "compiler"};
	const struct jw_compiler_fetch_options fetch = fetching_options(&fetching);
	struct jw_prime_result *result;
	int failed;

	if (priming->for_others) {
		options.ptxas = options_value(&cli->options, "ptxas");
		options.fetch = options_given(&cli->options, "fetch") ? &fetch : NULL;
	} else {
		take_prime_options(cli, &options);
	}
	failed = jw_prime(err, cli->system, &options, &result);
	prime_bar_end(&priming->bar);
	fetching_end(&fetching);
	if (failed) {
		/* There it is the compiler that is not there. */
		cli->failure = priming->for_others && err->code == JW_ERR_NOT_FOUND
						   ? EXIT_CANNOT
						   : prime_outcome_status_of_error(err);
		return -1;
	}
	failed = conclude(priming, result);
	jw_prime_result_free(result);
	return failed;
}

/* ---- whose cache */

static int choose_account(struct jw_error *err, const struct cli *cli)
{
	char *doubt = NULL;

	/* A named directory is the intended one, whoever fills it. */
	if (options_given(&cli->options, "cache"))
		return 0;
	if (jw_account_doubt(err, &doubt))
		return -1;
	if (doubt) {
		struct buf line = BUF_MAX(1 << 20);

		output_warning(&cli->out, "%s", doubt);
		buf_say(&line, "jitwarm %s", cli->command->name);
		shell_add_words(&line, (const char *const *)cli->argv, (size_t)cli->argc);
		if (!line.lacking && strcmp(os_name, "windows") != 0)
			output_command(&cli->out, "without sudo", buf_text(&line));
		buf_free(&line);
	}
	jw_text_free(doubt);
	return 0;
}

/* The named files, else those of a recording, else those of the environment. */
static int find_prime_files(struct jw_error *err, struct prime_outcome *priming)
{
	const struct cli *cli = priming->cli;
	const char *recording = options_value(&cli->options, "recording");
	struct jw_found *found;

	if (recording && jw_recording_read(err, recording, &priming->recording))
		return -1;
	if (recording && !cli->options.operand_count)
		return jw_recording_find(err, priming->recording, &found)
				   ? -1
				   : found_files_take(&cli->out, found, &priming->files);
	return found_files_find(err, &cli->out, cli->options.operands, cli->options.operand_count, true,
							&priming->files);
}

/* Opens the system and does everything that needs no file. */
static int open_system(struct jw_error *err, struct prime_outcome *priming)
{
	struct cli *cli = priming->cli;
	struct target_machine *elsewhere = &priming->elsewhere;
	struct jw_system_options how = {.probe = true};

	if (!priming->for_others)
		how.cache_dir = options_value(&cli->options, "cache");
	if (cli_worker(err, cli, &how.worker) ||
		(priming->for_others ? target_machine_read(err, cli, elsewhere, &how)
							 : choose_account(err, cli)))
		return -1;
	if (!jw_system_open(err, &how, &cli->system))
		return 0;
	return priming->for_others && err->code == JW_ERR_USAGE &&
				   !options_given(&cli->options, "driver")
			   ? target_machine_lacks_driver(err, cli)
			   : -1;
}

static int prime_now(struct jw_error *err, struct prime_outcome *priming)
{
	struct cli *cli = priming->cli;
	struct target_machine *elsewhere = &priming->elsewhere;

	if (nvrtc_options_read(err, cli, &priming->nvrtc) || open_system(err, priming) ||
		find_prime_files(err, priming) ||
		(elsewhere->pack.output && !priming->only_plan &&
		 pack_report_key(err, cli, &elsewhere->pack, elsewhere->passphrase)))
		return cli_hopeless(err, cli, priming->for_others ? JW_ERR_UNSUPPORTED : JW_OK);
	cli_warn_of_settings(cli);
	target_machine_warn(cli, elsewhere);
	if (!cli->system->gpu_count) {
		const char *name = cli->options.operand_count ? cli->options.operands[0] : "torch";
		char word[SHELL_WORD];

		cli->failure = EXIT_CANNOT;
		return error_set(
			err, JW_ERR_NOT_FOUND,
			"%s. In an image: “jitwarm bake --target %s --fetch -o DIR%s %s”. For a machine whose "
			"driver is known: “jitwarm make --target %s --driver %s --fetch -o FILE.jwpack %s”",
			cli->system->why_none, cli->system->example, os_exists(name) ? "" : " --index",
			shell_word(word, name), cli->system->example, cli->system->example_driver, word);
	}
	if (!priming->for_others && prime_share_read(err, cli, &priming->share))
		return -1;
	if (!priming->for_others && options_given(&cli->options, "tune") && !priming->only_plan &&
		tune_change_on_the_way(err, cli, &priming->files))
		return -1;
	os_catch_interrupts();
	return work_of_prime(err, priming);
}

static int prime_run(struct jw_error *err, struct cli *cli)
{
	struct prime_outcome priming = {.cli = cli,
									.bar = {.output = &cli->out},
									.only_plan = options_given(&cli->options, "dry-run"),
									.for_others = cli->command == &command_make};
	struct unattended *unattended = &priming.unattended;
	bool pending = false;

	if ((!priming.for_others && prime_share_check(err, cli)) ||
		unattended_begin(err, cli, unattended) ||
		((unattended->state ||
		  (!priming.for_others && !priming.only_plan && !options_given(&cli->options, "no-store") &&
		   !options_given(&cli->options, "cache"))) &&
		 ahead_besides(err, cli, unattended->state != NULL, &pending)) ||
		(!unattended->skip && !pending && prime_now(err, &priming))) {
		TEXT_COPY(unattended->problem, err->message);
		cli_fail(cli, err);
		if (err->code == JW_ERR_UNSUPPORTED && cli->system && cli->system->cache.why_useless[0])
			next_step_cache(&cli->out, &cli->system->cache);
	}
	passphrase_forget(priming.elsewhere.passphrase);
	registry_given_free(&priming.share.given);
	passphrase_forget(priming.share.passphrase);
	found_files_free(&priming.files);
	mem_free(priming.nvrtc.words);
	mem_free(priming.nvrtc.text);
	jw_recording_free(priming.recording);
	return unattended_end(err, cli, unattended);
}

/* What is compiled, of both commands. */
#define WHAT_OPTIONS                                                                                 \
	CLI_FLAG("all",                                                                                  \
			 "Include modules outside the sections that the CUDA runtime registers, however "        \
			 "many, and loose ones of packages' tests",                                              \
			 .rare = true),                                                                          \
		CLI_VALUE("recording", "FILE",                                                               \
				  "Compile only the modules in this recording of “jitwarm run”, from the files " \
				  "in it or the named ones",                                                         \
				  .names = NAMES_FILE),                                                              \
		CLI_ENVIRONMENT,                                                                             \
		CLI_VALUE("nvrtc-options", "OPTIONS",                                                        \
				  "Compile *.cu by NVRTC with these options, as the program does", .rare = true),    \
		CLI_VALUE("nvrtc", "FILE|PACKAGE",                                                           \
				  "The NVRTC of the program: a library, a toolkit, or a package that has or "        \
				  "requires one",                                                                    \
				  .names = NAMES_FILE_OR_NAME, .rare = true),                                        \
		CLI_FLAG("dry-run", "Only report the modules to compile", .letter = 'n')
#define JOBS_OPTION                                                                                \
	CLI_NUMBER("jobs", "N", "Compile with N workers; without it one per core", .letter = 'j',      \
			   .most = 1024, .setting = true)
#define WORKER_SETTINGS                                                                            \
	CLI_SETTING(OPTION_SIZE, "max-mem"), CLI_SETTING(OPTION_DURATION, "module-timeout")

static const struct cli_option prime_options[] = {
	CLI_HEADING(.title = "What to compile"),
	WHAT_OPTIONS,
	CLI_VALUE("nvrtc-name", "NAME", "The program's name for the source; without it the file's name",
			  .rare = true),
	IF_CHANGED_OPTION,

	CLI_HEADING(.title = "How much at most"),
	JOBS_OPTION,
	CLI_DURATION(
		"budget-time", "TIME",
		"Begin no module after TIME (5m, 1h30m) and finish what is being compiled, the most "
		"valuable modules first; the next run continues",
		.positive = true),
	CLI_SIZE("budget-size", "SIZE",
			 "Let the named files use at most SIZE of the cache (1G, 500M), warm modules included, "
			 "the most valuable modules first",
			 .positive = true, .rare = true),
	CLI_FLAG("background", "Work at the lowest processor and disk priority, and pause on battery",
			 .rare = true),
	WORKER_SETTINGS,

	CLI_HEADING(.title = "Where results come from"),
	REUSE_OPTIONS,
	CLI_VALUE("share", "PLACE",
			  "Take each module from DIR, https://HOST/PATH or s3://BUCKET/PREFIX before "
			  "compiling it, and put there what is compiled; with --sign signed",
			  .setting = true),
	CLI_FLAG("share-unsigned",
			 "With --share: trust whoever can write there, also without a signature",
			 .setting = true, .rare = true),
	CLI_FLAG("sign",
			 "With --share: sign what is put there, as a key without a passphrase does unasked",
			 .rare = true),
	CLI_SETTING(OPTION_LIST, "plain-http"),
	CLI_SETTING(OPTION_VALUE, "key"),
	CLI_SETTING(OPTION_VALUE, "passphrase-file"),

	CLI_HEADING(.title = "Where results go"),
	CLI_CACHE,
	CLI_FLAG("tune", "If the driver's limit is too small for the results, raise it for this "
					 "account first (“jitwarm tune”)"),
	JSON_LOG_OPTION,
	PROGRESS_OPTION,
	{0}};

const struct cli_command command_prime = {
	.name = "prime",
	.summary = "Compile now what a first start would compile",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Has NVIDIA's driver compile into its cache, on all cores, every module that it would "
		"compile at the first start of the named libraries, wheels, directories or Python "
		"packages. Without a name it primes the active Python environment. Modules in the cache "
		"are not compiled again; the next run continues an interrupted one.\n\nFirst it predicts "
		"the time, from the modules and earlier runs here, and the space. Modules that would not "
		"fit are not started. --budget-time and --budget-size prefer modules that every start "
		"needs and that save it the most time.\n\nAfter a driver update, results of another build "
		"of the same CUDA minor version are reused: the bytes are the same. --carry-over also "
		"reuses results of older drivers, in seconds; --recompile-carried replaces them "
		"later.\n\n--share takes modules from a place that other machines fill, and puts there "
		"what it compiles. Machines that start together share the work, so that each module is "
		"compiled once. For a registry, run “jitwarm pull” before and “jitwarm push” "
		"afterwards.\n\nCUDA C sources (*.cu) are first compiled to PTX by NVRTC, for each GPU "
		"architecture. The cache identifies a module by its text, so NVRTC's version, options and "
		"source name must be those of the program.\n\nMemory, time-outs and the store are settings "
		"(“jitwarm config”).",
	.options = prime_options,
	.run = prime_run,
};

static const struct cli_option make_options[] = {
	CLI_HEADING(.title = "For which machine"),
	CLI_LIST("target", "GPU", "Its GPU: sm_86, rtx3070, “RTX 4090”, or several; may be repeated",
			 .alias = "gpu"),
	CLI_LIST("driver", "VERSION|FILE",
			 "Its driver: 550.163.01 (for -n also 580 or CUDA 12.8), "
			 "its libcuda.so or "
			 "nvcuda64.dll (with a version beside it, if its name has none), or its profile, "
			 "from “jitwarm status --driver-profile FILE” there",
			 .names = NAMES_FILE_OR_NAME),
	CLI_VALUE("output", "FILE|DIR",
			  "Write a pack, for “jitwarm import” there; or fill a cache in this folder (DIR/)",
			  .letter = 'o', .names = NAMES_OUTPUT_OR_FOLDER),
	CLI_FLAG("sign", "Sign the pack: write the signature into FILE.minisig"),
	CLI_SETTING(OPTION_VALUE, "key"),
	CLI_SETTING(OPTION_VALUE, "passphrase-file"),

	CLI_HEADING(.title = "What to compile"),
	WHAT_OPTIONS,

	CLI_HEADING(.title = "How"),
	CLI_VALUE("ptxas", "FILE",
			  "Compile with this ptxas instead of that of the driver's CUDA version",
			  .names = NAMES_FILE, .rare = true),
	FETCH_OPTION("Fetch a missing compiler first, as “jitwarm compiler fetch” does"),
	JOBS_OPTION,
	PROGRESS_OPTION,
	WORKER_SETTINGS,
	{0}};

const struct cli_command command_make = {
	.name = "make",
	.summary = "Compile for another machine, into a pack for it",
	.usage = "--target GPU --driver VERSION|FILE -o FILE|DIR/ [OPTION]… [PATH|PACKAGE]…",
	.description =
		"Compiles what “jitwarm prime” would compile on another machine, without its GPU and "
		"driver: the ptxas of that driver's CUDA version makes the driver's own code. It goes "
		"into a pack for “jitwarm import” there, or into a cache in a folder, for an image. "
		"“jitwarm compiler fetch”, or --fetch on the way, gets that ptxas.",
	.options = make_options,
	.run = prime_run,
};
