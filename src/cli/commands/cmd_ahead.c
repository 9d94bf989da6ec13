/* jitwarm ahead: prepares the cache for the driver that starts at the next boot. */
#include <jitwarm/ahead.h>
#include <jitwarm/tune.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands/cmd_ahead.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/progress.h"
#include "cli/tune_changes.h"
#include "os/env.h"
#include "os/interrupt.h"

/* ---- the document */

#define AHEAD(member, ...) JSON(struct jw_ahead, member, __VA_ARGS__)

static const char *format_ahead(char room[JSON_ROOM], const void *state)
{
	(void)room;
	return jw_ahead_state_name(*(const enum jw_ahead_state *)state);
}

static const struct json_field ahead_fields[] = {
	JSON_FORMATTED("state", struct jw_ahead, state, format_ahead,
				   "how far the preparation has got: `none`, `noticed`, `unfinished`, `compiling`, "
				   "`ready`, `live`, `undone`, `no-room`, `no-compiler` or `failed`"),
	AHEAD(running, "the driver that is running; `\"\"` if unknown"),
	AHEAD(next, "the driver that is prepared or was prepared last", .presence = JSON_IF_SET),
	AHEAD(pending, "`next` is installed and starts at the next boot, or `--driver` has named it"),
	AHEAD(modules, "modules that the running driver has compiled for this machine's GPUs"),
	AHEAD(ready, "modules among `modules` that have an entry for the driver `next`"),
	AHEAD(stored, "with the state `no-room`: the modules that wait in the store for the boot",
		  .presence = JSON_IF_SET),
	AHEAD(limit_bytes, "with the state `no-room`: the cache limit that all results need",
		  .presence = JSON_IF_SET),
	AHEAD(why, "why the preparation is in one of the last three states, in one line",
		  .presence = JSON_IF_SET),
	{0},
};
const struct json_table document_ahead = {.schema = "jitwarm.ahead/1", .fields = ahead_fields};
const struct json_table document_ahead_members = {.fields = ahead_fields,
												  .size = sizeof(struct jw_ahead)};

static bool ahead_is_prepared(const struct jw_ahead *ahead)
{
	return ahead->ready + ahead->stored >= ahead->modules;
}

/* Returns what is left to do, for the text after the counts. */
static const char *ahead_rest(const struct jw_ahead *ahead)
{
	switch (ahead->state) {
	case JW_AHEAD_NOTICED: return "; “jitwarm ahead” prepares them";
	case JW_AHEAD_UNFINISHED: return "; “jitwarm ahead” compiles the other modules";
	case JW_AHEAD_COMPILING: return "; the other modules are being compiled";
	case JW_AHEAD_NO_ROOM:
		return !ahead_is_prepared(ahead)
				   ? "; the cache limit has no space for the other modules. To raise the limit: "
					 "“jitwarm ahead --tune”. Otherwise the driver compiles them after the boot"
				   : "; the cache limit has no space for the other modules. They are compiled, and "
					 "wait in the store for the boot";
	case JW_AHEAD_NO_COMPILER: return "; the compiler of that driver is missing: ";
	case JW_AHEAD_FAILED: return "; the other modules failed: ";
	case JW_AHEAD_NONE:
	case JW_AHEAD_READY:
	case JW_AHEAD_LIVE:
	case JW_AHEAD_UNDONE: break;
	}
	return "";
}

void ahead_print(const struct output *out, const char *head, const struct jw_ahead *ahead)
{
	const char *rest = ahead_rest(ahead);

	if (!ahead->pending)
		return;
	if (ahead->state == JW_AHEAD_NOTICED && !ahead->modules) {
		output_line(out, STYLE_WARN,
					ahead->named ? "%sThe cache is not yet prepared for driver %s."
								 : "%sDriver %s is installed and starts at the next boot: “jitwarm "
								   "ahead” prepares the cache for this driver.",
					head, ahead->next);
		return;
	}
	output_line(
		out, ahead->ready < ahead->modules ? STYLE_WARN : STYLE_GOOD,
		ahead->named
			? "%sDriver %s: %zu of %s ready for it%s%s."
			: "%sDriver %s is installed and starts at the next boot: %zu of %s ready for it%s%s.",
		head, ahead->next, ahead->ready, TEXT_COUNT(ahead->modules, "module is", "modules are"),
		rest,
		ahead->state == JW_AHEAD_FAILED || ahead->state == JW_AHEAD_NO_COMPILER ? ahead->why : "");
}

static void print_ahead(const struct output *out, const struct jw_ahead *ahead)
{
	if (ahead->pending || ahead->state == JW_AHEAD_LIVE)
		output_note(out,
					"jitwarm cannot know PTX that a program writes anew for each driver (Dr.Jit): "
					"after the boot, record the program's start (“jitwarm run --record FILE -- "
					"COMMAND”), and prime the recording on the other machines");
	if (ahead->pending)
		ahead_print(out, "", ahead);
	else if (ahead->state == JW_AHEAD_LIVE)
		output_line(
			out, ahead->ready < ahead->modules ? STYLE_WARN : STYLE_GOOD,
			"Driver %s is running: %zu of %s ready (the previous driver had compiled all of them).",
			ahead->running, ahead->ready, TEXT_COUNT(ahead->modules, "module is", "modules are"));
	else if (ahead->state == JW_AHEAD_UNDONE)
		output_line(out, STYLE_PLAIN,
					"Driver %s is running and installed; driver %s, for which the cache was "
					"prepared, is not installed.",
					ahead->running, ahead->next);
	else if (*ahead->running)
		output_line(out, STYLE_PLAIN,
					ahead->named ? "The named driver %s is already running: nothing to prepare."
								 : "Driver %s is installed and running: nothing to prepare.",
					ahead->running);
}

/* The task: the command itself, or prime's unattended run. */
struct preparing {
	struct cli *cli;
	struct prime_bar bar;
	uint64_t login_bytes; /* the limit that a login sets; 0 if there is none */
	struct jw_ahead result;
};

static void on_reused(void *context, const struct jw_ahead *ahead)
{
	const struct preparing *preparing = context;
	const struct output *out = &preparing->cli->out;

	if (ahead->pending && ahead->named)
		output_line(out, STYLE_PLAIN, "Driver %s is running: %zu of %s an entry for driver %s.",
					ahead->running, ahead->ready,
					TEXT_COUNT(ahead->modules, "module has", "modules have"), ahead->next);
	else if (ahead->pending)
		output_line(out, STYLE_PLAIN,
					"Driver %s is running, and driver %s starts at the next boot: %zu of %s an "
					"entry for the next driver.",
					ahead->running, ahead->next, ahead->ready,
					TEXT_COUNT(ahead->modules, "module has", "modules have"));
}

static void on_ahead_progress(void *context, const struct jw_prime_progress *progress)
{
	struct preparing *preparing = context;

	prime_bar_report(&preparing->bar, progress);
}

static void on_ahead_message(void *context, const char *line)
{
	struct preparing *preparing = context;

	prime_bar_message(&preparing->bar, line);
}

/* Finds the limit of this account's programs: this process's or a login's. A call may have one of
 * its own, and running programs are older than what “tune” writes. The smaller limit counts,
 * because a program that has it evicts everything beyond. */
static int take_account_limit(struct jw_error *err, struct preparing *preparing)
{
	struct jw_settings *settings;
	uint64_t own = UINT64_MAX;
	char text[24];

	if (jw_settings_read(err, &settings))
		return -1;
	for (size_t i = 0; i < settings->count; i++) {
		const struct jw_setting *setting = &settings->items[i];

		if (strcmp(setting->name, "CUDA_CACHE_MAXSIZE") != 0)
			continue;
		/* Parses the value as drivers do. */
		if (!strcmp(setting->source, "process"))
			own = strtoull(setting->value, NULL, 10);
		else
			preparing->login_bytes = strtoull(setting->value, NULL, 10);
	}
	jw_result_free(settings);
	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)preparing->login_bytes);
	return preparing->login_bytes && preparing->login_bytes < own
			   ? os_env_set(err, "CUDA_CACHE_MAXSIZE", text)
			   : 0;
}

static int prepare_ahead(struct jw_error *err, struct preparing *preparing,
						 const struct found_files *files, const char *library, bool fetches,
						 bool raises, bool compiles)
{
	struct cli *cli = preparing->cli;
	const struct output *out = &cli->out;
	const struct options *given = &cli->options;
	struct jw_tune_request request = {.scope = JW_SCOPE_USER};
	struct jw_tune_result *tuned;
	struct fetching fetching = {.output = &cli->out, .label = "compiler"};
	const struct jw_compiler_fetch_options fetch = fetching_options(&fetching);
	const struct jw_prime_options prime = {
		.plan.found = files->found,
		.plan.retried = given->operands,
		.plan.retried_count = given->operand_count,
		.compile.jobs = (unsigned)options_number(given, "jobs"),
		.compile.low_priority = options_given(given, "background"),
		.compile.fetch = fetches ? &fetch : NULL,
		.reuse.no_store = !cli->uses_store,
		.no_compile = !compiles,
		.context = preparing,
		.progress = on_ahead_progress,
		.message = on_ahead_message,
		.cancel = cli_cancel,
	};
	struct jw_ahead_options options = {.library = library,
									   .prime = &prime,
									   .cache_dir = options_value(given, "cache"),
									   .reused = on_reused};
	int result;

	if (cli_worker(err, cli, &options.worker))
		return -1;
	os_catch_interrupts();
	result = jw_ahead_prepare(err, &options, &preparing->result);
	prime_bar_end(&preparing->bar);
	fetching_end(&fetching);
	if (result || !raises || preparing->result.state != JW_AHEAD_NO_ROOM)
		return result;
	/* Raises the limit from the next login on, which is not later than the boot. A larger limit
	 * stays. */
	request.limit_bytes = jw_tune_limit(preparing->result.limit_bytes, 0);
	if (preparing->login_bytes < request.limit_bytes) {
		if (jw_tune_apply(err, &request, &tuned))
			return -1;
		tune_change_print(out, &request, tuned);
		jw_result_free(tuned);
	}
	output_line(out, STYLE_PLAIN,
				"From the next login on, the cache limit is larger. “jitwarm ahead” compiles the "
				"other modules after the boot.");
	return 0;
}

static int ahead_run(struct jw_error *err, struct cli *cli)
{
	struct preparing preparing = {.cli = cli, .bar = {.output = &cli->out}};
	struct jw_ahead *ahead = &preparing.result;
	const char *library = options_value(&cli->options, "driver");
	struct found_files files = {0};
	struct jw_driver version;
	int failed = 0;

	if (library && !jw_driver_parse(NULL, library, &version))
		return error_set(err, JW_ERR_USAGE,
						 "--driver: name the libcuda.so file of driver %.40s: only its bytes show "
						 "which entries this driver will look for",
						 library);
	if (cli->options.operand_count)
		failed = found_files_find(err, &cli->out, cli->options.operands, cli->options.operand_count,
								  true, &files);
	if (!failed)
		failed = options_given(&cli->options, "dry-run")
					 ? jw_ahead_find(err, library, ahead)
					 : take_account_limit(err, &preparing) ||
						   prepare_ahead(err, &preparing, &files, library,
										 options_given(&cli->options, "fetch"),
										 options_given(&cli->options, "tune"), true);
	found_files_free(&files);
	if (failed)
		return cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	if (!*ahead->running) {
		cli->failure = EXIT_CANNOT;
		return error_set(err, JW_ERR_NOT_FOUND,
						 "cannot tell which driver is running: no NVIDIA kernel module is loaded, "
						 "or the version of the module cannot be read");
	}
	print_ahead(&cli->out, ahead);
	if (ahead->state != JW_AHEAD_UNDONE &&
		(!ahead_is_prepared(ahead) || ahead->state == JW_AHEAD_NOTICED))
		cli_end_with(cli, EXIT_COLD);
	return document_print(&cli->out, &document_ahead, ahead);
}

int ahead_besides(struct jw_error *err, struct cli *cli, bool unattended, bool recorded,
				  bool *ret_pending)
{
	struct preparing preparing = {.cli = cli, .bar = {.output = &cli->out}};
	struct jw_ahead *ahead = &preparing.result;
	struct found_files files = {0};
	int failed;

	if (jw_ahead_find(err, NULL, ahead))
		return -1;
	*ret_pending = unattended && ahead->pending;
	if (!*ret_pending && (ahead->state != JW_AHEAD_LIVE || !(unattended || ahead->stored)))
		return 0;
	if ((*ret_pending || ahead->stored) && !recorded &&
		found_files_find(err, &cli->out, cli->options.operands, cli->options.operand_count, true,
						 &files))
		return -1;
	/* prime's own options say what to compile, and how. */
	failed = take_account_limit(err, &preparing) ||
			 prepare_ahead(err, &preparing, &files, NULL, false, unattended, unattended);
	found_files_free(&files);
	if (failed) {
		if (err->code == JW_ERR_UNSUPPORTED)
			cli->failure = EXIT_CANNOT;
		return -1;
	}
	if (*ret_pending && !ahead_is_prepared(ahead))
		cli_end_with(cli, EXIT_COLD);
	if (*ret_pending)
		print_ahead(&cli->out, ahead);
	return 0;
}

static const struct cli_option ahead_options[] = {
	CLI_VALUE("driver", "FILE",
			  "Prepare for the driver with this libcuda.so, if that driver is not installed yet",
			  .names = NAMES_FILE_OR_NAME),
	CLI_FLAG("fetch", "If the next driver's compiler is missing, fetch it first, as “jitwarm "
					  "compiler fetch” does"),
	CLI_FLAG("tune", "If the results of both drivers exceed the cache limit, raise the limit for "
					 "this account (“jitwarm tune”)"),
	CLI_JOBS(.rare = false),
	CLI_BACKGROUND(.rare = false),
	CLI_FLAG("dry-run",
			 "Report which driver is next and how much of the cache is ready, and change nothing",
			 .letter = 'n'),
	PROGRESS_OPTION,
	CLI_ENVIRONMENT,
	CLI_CACHE,
	{0},
};

const struct cli_command command_ahead = {
	.name = "ahead",
	.summary = "Prepare the cache for a driver that starts at the next boot",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Prepares the cache for the driver that was just installed, while the previous driver runs "
		"until the next boot.\n\njitwarm compiles everything that the running driver has compiled, "
		"including code made at run time and code of programs that jitwarm has never seen. For "
		"this, jitwarm uses NVIDIA's compiler ptxas, of the CUDA version of the installed driver; "
		"drivers of one CUDA version share their results. Entries of the running driver are never "
		"evicted.\n\nIf a program has relocatable code, name its path or package, because the "
		"entries of such code have different names for each driver.\n\nIf no new driver waits for "
		"the next boot, the command ends at once. Results that exceed the cache's limit wait in "
		"the store and enter the cache after the boot; then the remaining modules are compiled. "
		"“jitwarm startup enable” does all of this automatically.\n\nA program may write other PTX "
		"for each driver, for example with the driver's own version in it. jitwarm cannot know "
		"such PTX before the boot. Record the program's start under the new driver (“jitwarm run "
		"--record FILE -- COMMAND”), and prime the recording.\n\nExit status: 0 if no known code "
		"will be compiled after the boot, 1 if some code will be compiled, 2 if the cache cannot "
		"be prepared.",
	.examples = "jitwarm ahead\njitwarm ahead --fetch\n",
	.options = ahead_options,
	.run = ahead_run,
};
