/* jitwarm prime: the main job. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/estimate.h>
#include <jitwarm/find.h>
#include <jitwarm/prime.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents.h"
#include "cli/progress.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/system.h"

struct priming {
	struct cli *cli;
	const struct jw_system *system;
	struct progress progress;
	bool bar;
	bool only_plan;
};

/* ---- before */

/* What does not fit is not kept: then the driver compiles a part of it at every start. */
static void warn_of_limit(const struct output *out, const struct jw_cache_info *cache,
						  uint64_t wanted)
{
	const uint64_t step = UINT64_C(1) << 30, most = 4 * step;
	/* Sizes are predicted badly, and other programs want room too. */
	uint64_t better = (wanted + wanted / 2 + step - 1) / step * step;
	char size[TEXT_SHORT], limit[TEXT_SHORT];

	if (wanted <= cache->limit_bytes)
		return;
	if (cache->limit_bytes >= most)
		output_warning(out,
					   "the results take about %s, and no driver keeps more than %s: name fewer "
					   "packages at a time",
					   text_bytes(size, wanted), text_bytes(limit, most));
	else
		output_warning(out,
					   "the results take about %s, and the driver keeps %s: set "
					   "CUDA_CACHE_MAXSIZE=%llu, here and for the program",
					   text_bytes(size, wanted), text_bytes(limit, cache->limit_bytes),
					   (unsigned long long)(better < most ? better : most));
}

static void print_plan(const struct priming *priming, const struct jw_prime_plan *plan)
{
	const struct output *out = &priming->cli->out;
	char bytes[TEXT_SHORT], cache[TEXT_SHORT], time[TEXT_SHORT];

	if (plan->cannot)
		output_line(out, STYLE_WARN,
					"%zu containers hold PTX that this driver cannot use for these GPUs; “jitwarm "
					"scan” says why.",
					plan->cannot);
	if (!plan->modules) {
		output_line(out, STYLE_PLAIN,
					"There is nothing here that the driver would compile for these GPUs.");
		return;
	}
	if (!plan->cold) {
		output_line(out, STYLE_GOOD,
					"Warm: all %zu modules that the driver would compile are in its cache.",
					plan->modules);
		return;
	}
	output_line(
		out, STYLE_PLAIN,
		"%zu of %zu modules to compile (%s of PTX): about %s with %u worker%s, %s of cache.",
		plan->cold, plan->modules, text_bytes(bytes, plan->cold_bytes),
		text_duration(time,
					  jw_makespan_seconds(plan->cpu_seconds, plan->longest_seconds, plan->workers)),
		plan->workers, plan->workers == 1 ? "" : "s", text_bytes(cache, plan->cache_bytes));
	if (plan->link)
		output_line(out, STYLE_PLAIN,
					"%zu of them are inputs of run-time linking; the linking itself is done again "
					"at every start.",
					plan->link);
	warn_of_limit(out, &priming->system->cache, plan->cache_bytes);
}

static bool on_planned(void *context, const struct jw_prime_plan *plan)
{
	struct priming *priming = context;

	print_plan(priming, plan);
	if (priming->only_plan || !plan->cold)
		return !priming->only_plan;
	progress_start(&priming->progress, &priming->cli->out, plan->cold, plan->cpu_seconds * 1000,
				   "compiling");
	priming->bar = true;
	return true;
}

/* ---- meanwhile */

static void on_progress(void *context, const struct jw_prime_progress *progress)
{
	struct priming *priming = context;

	if (priming->bar)
		progress_update(&priming->progress, progress->done, progress->done_weight,
						progress->done_bytes);
}

static void on_message(void *context, const char *line)
{
	struct priming *priming = context;

	if (priming->bar)
		progress_message(&priming->progress, line);
	else
		output_warning(&priming->cli->out, "%s", line);
}

static bool on_stop(void *context)
{
	(void)context;
	return os_interrupted();
}

/* ---- after */

enum { LOG_LINES = 6 };

/* The first lines of the driver's own log, indented below the failure that they explain. */
static void print_log(const struct output *out, const char *log)
{
	for (int i = 0; *log && i < LOG_LINES; i++) {
		size_t length = strcspn(log, "\n");

		if (length)
			output_warning(out, "    %.*s", (int)(length < 400 ? length : 400), log);
		log += length + (log[length] == '\n');
	}
}

static void print_result(const struct priming *priming, const struct jw_prime_result *result)
{
	const struct output *out = &priming->cli->out;
	char time[TEXT_SHORT], bytes[TEXT_SHORT];

	for (size_t i = 0; i < result->failure_count; i++) {
		const struct jw_prime_failure *failure = &result->failures[i];
		char target[JW_TARGET_TEXT];

		output_warning(out, "%s%s%s (%s): %s", failure->path, failure->member ? ": " : "",
					   failure->member ? failure->member : "",
					   jw_target_sm(target, failure->target), failure->reason);
		print_log(out, failure->log);
	}
	if (result->opaque)
		output_warning(out,
					   "this driver's cache is not of the form that jitwarm knows: the driver "
					   "filled it by itself in %s, and "
					   "added %zu entries; more than that cannot be told",
					   text_duration(time, result->seconds), result->compiled);
	else if (result->compiled)
		output_line(out, STYLE_GOOD, "Compiled %zu module%s in %s; the cache grew by %s.",
					result->compiled, result->compiled == 1 ? "" : "s",
					text_duration(time, result->seconds), text_bytes(bytes, result->added_bytes));
	if (result->evicted)
		output_warning(out,
					   "%zu of the oldest entries had to make room, as at a driver's own insert: "
					   "the cache keeps %s (CUDA_CACHE_MAXSIZE)",
					   result->evicted, text_bytes(bytes, priming->system->cache.limit_bytes));
	if (result->failed)
		output_warning(out, "%zu module%s could not be compiled", result->failed,
					   result->failed == 1 ? "" : "s");
	if (result->interrupted)
		output_warning(out, "interrupted with %zu modules left; the same command goes on from here",
					   result->undone);
	else if (result->compiled && !result->failed && !result->undone && !result->opaque)
		output_line(out, STYLE_PLAIN,
					result->plan.left_out || result->plan.cannot
						? "Start your program again: of what was asked for it has nothing left to "
						  "compile but what is named above."
						: "Start your program again: it has nothing left to compile.");
	if (result->stopped.code)
		output_error(out, "stopped with %zu modules left: %s", result->undone,
					 result->stopped.message);
}

/* A driver that does not cache, or a cache where no file can be locked: no help there. A full cache
 * is a part left undone. */
static enum exit_status status_of_error(const struct jw_error *err)
{
	switch ((int)err->code) {
	case JW_ERR_UNSUPPORTED: return EXIT_CANNOT;
	case JW_ERR_LIMIT: return EXIT_COLD;
	default: return exit_of(err->code);
	}
}

static enum exit_status status_of(const struct jw_prime_result *result)
{
	enum exit_status status = EXIT_DONE;

	/* What left no entry cannot be shown to be warm. */
	if (result->interrupted || result->undone || result->failed || result->unchanged ||
		result->misjudged)
		status = exit_combine(status, EXIT_COLD);
	if (result->troubles)
		status = exit_combine(status, EXIT_COLD);
	if (result->plan.hopeless)
		status = exit_combine(status, EXIT_CANNOT);
	/* What is undone then is no part of its own. */
	if (result->stopped.code)
		status = exit_combine(result->stopped.code == JW_ERR_UNSUPPORTED ? EXIT_DONE : status,
							  status_of_error(&result->stopped));
	return status;
}

static enum exit_status work(struct priming *priming, const struct jw_found *found,
							 const char **paths)
{
	struct cli *cli = priming->cli;
	struct jw_prime_options options = {
		.paths = paths,
		.path_count = found->file_count,
		.everything = options_given(&cli->options, "all"),
		.jobs = (unsigned)options_number(&cli->options, "jobs", 0),
		.low_priority = options_given(&cli->options, "background"),
		.context = priming,
		.planned = on_planned,
		.progress = on_progress,
		.message = on_message,
		.stop = on_stop,
	};
	struct jw_prime_result *result;
	struct jw_error err;
	enum exit_status status;
	int failed;

	for (size_t i = 0; i < found->file_count; i++)
		paths[i] = found->files[i].path;
	os_catch_interrupts();
	failed = jw_prime(&err, priming->system, &options, &result);
	if (priming->bar)
		progress_finish(&priming->progress);
	if (failed)
		return cli_fail_as(cli, status_of_error(&err), &err);
	for (size_t i = 0; i < result->note_count; i++)
		output_note(&cli->out, "%s", result->notes[i]);
	status = priming->only_plan && result->plan.cold ? EXIT_COLD : status_of(result);
	print_result(priming, result);
	if (output_json(&err, &cli->out, document_prime(result)))
		status = cli_fail(cli, &err);
	jw_prime_result_free(result);
	return status;
}

/* ---- whose cache */

/* sudo -E leaves the caller's HOME; its cache is then written with the caller's rights. */
static bool has_callers_home(const struct os_account *account)
{
	char *home = os_env("HOME");
	bool has = home && !strcmp(home, account->sudo_home);

	mem_free(home);
	return has;
}

/* Under sudo the cache is root's, which is seldom what is meant. With --sudo-user we become the
 * account that called sudo, so that everything written has its owner and nothing is written with
 * root's rights where others could have laid links. */
static int choose_account(struct jw_error *err, const struct cli *cli)
{
	struct os_account account;
	int result = 0;

	if (os_account(err, &account))
		return -1;
	if (options_given(&cli->options, "sudo-user"))
		result = account.sudo_user
					 ? os_become_sudo_user(err, &account)
					 : error_set(err, JW_ERR_USAGE, "--sudo-user: this is not run through sudo");
	else if (account.sudo_user && !options_given(&cli->options, "cache") &&
			 !has_callers_home(&account))
		output_warning(&cli->out,
					   "under sudo this warms root's cache, not that of %s: run it without sudo, "
					   "or with --sudo-user",
					   account.sudo_user);
	else if (account.superuser && !strcmp(os_name, "windows"))
		output_warning(&cli->out,
					   "this runs as SYSTEM, whose cache no user's program reads: run it "
					   "in the user's own account");
	os_account_free(&account);
	return result;
}

static void warn_of_settings(const struct cli *cli, const struct jw_system *system)
{
	/* Then that is the failure. */
	if (system->cache.why_useless[0])
		return;
	for (size_t i = 0; i < system->cache.warning_count; i++)
		output_warning(&cli->out, "%s", system->cache.warnings[i]);
}

static enum exit_status prime_run(struct cli *cli)
{
	struct priming priming = {.cli = cli, .only_plan = options_given(&cli->options, "dry-run")};
	struct jw_system_options how = {.probe = true};
	struct jw_system *system = NULL;
	struct jw_found *found = NULL;
	const char **paths = NULL;
	struct jw_error err;
	enum exit_status status;

	if (choose_account(&err, cli))
		return cli_fail(cli, &err);
	how.cache_dir = options_value(&cli->options, "cache");
	if (jw_system_open(&err, &how, &system) ||
		jw_find(&err, (const char *const *)cli->options.operands, cli->options.operand_count,
				&found)) {
		status = cli_fail(cli, &err);
		goto done;
	}
	warn_of_settings(cli, system);
	if (!system->gpu_count) {
		error_set(&err, JW_ERR_NOT_FOUND, "%s", system->why_none);
		status = cli_fail_as(cli, EXIT_CANNOT, &err);
		goto done;
	}
	found_print_notes(&cli->out, found);
	priming.system = system;
	paths = mem_array(&err, found->file_count, sizeof *paths);
	status = paths ? work(&priming, found, paths) : cli_fail(cli, &err);
	if (found->trouble_count)
		status = exit_combine(status, EXIT_COLD);
done:
	mem_free(paths);
	jw_found_free(found);
	jw_system_free(system);
	return status;
}

static const struct cli_option prime_options[] = {
	{.name = "all",
	 .kind = OPTION_FLAG,
	 .help = "Include modules outside the sections that the CUDA runtime registers, however many"},
	{.name = "jobs",
	 .letter = 'j',
	 .kind = OPTION_NUMBER,
	 .value = "N",
	 .most = 1024,
	 .help = "Compile with N workers; as many as cores without it"},
	{.name = "dry-run",
	 .letter = 'n',
	 .kind = OPTION_FLAG,
	 .help = "Only say what would be compiled"},
	{.name = "background", .kind = OPTION_FLAG, .help = "Work at the lowest priority"},
	{.name = "cache",
	 .kind = OPTION_VALUE,
	 .value = "DIR",
	 .help = "Warm this directory instead of the one that the driver uses"},
	{.name = "sudo-user",
	 .kind = OPTION_FLAG,
	 .help = "Under sudo: be the account that called it, and warm its cache"},
	{0}};

const struct cli_command command_prime = {
	.name = "prime",
	.summary = "Compile beforehand what a first start would compile",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description = "Has NVIDIA's driver compile, on all cores, every module that it would compile "
				   "at the first start of the named "
				   "libraries, wheels, directories or Python packages, and puts the results into "
				   "the driver's cache. Without a name "
				   "it takes the active Python environment. What is in the cache already is not "
				   "compiled again; a run that was "
				   "interrupted goes on where it stopped.",
	.options = prime_options,
	.run = prime_run,
};
