/* jitwarm doctor: why programs start slowly, and what to do about it. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/doctor.h>
#include <jitwarm/find.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/doctor_text.h"
#include "cli/parts/eyes.h"
#include "os/env.h"
#include "os/interrupt.h"

enum { MOST_ROUNDS = 4, MOST_FIXES = 32, MOST_ARGUMENTS = 64 };

/* One run. */
struct doctoring {
	struct cli *cli;
	const char *const *names; /* what to look at */
	size_t name_count;
	bool loaded; /* they are what a process has loaded */
	struct jw_found *found;
	struct jw_doctor_result *result;
	struct eyes eyes;
	char **fixed;
	size_t fixed_count;
};

static int choose_names(struct jw_error *err, struct doctoring *doctoring)
{
	const struct options *options = &doctoring->cli->options;

	if (options_given(options, "report") && doctoring->cli->out.json)
		return error_set(err, JW_ERR_USAGE, "--report is text: it cannot be combined with --json");
	if (eyes_choose(err, doctoring->cli, &doctoring->eyes))
		return -1;
	doctoring->names = options->operands;
	doctoring->name_count = options->operand_count;
	doctoring->loaded = doctoring->eyes.process.pid && !options->operand_count;
	if (doctoring->loaded) {
		doctoring->names = (const char *const *)doctoring->eyes.process.paths;
		doctoring->name_count = doctoring->eyes.process.count;
	}
	return 0;
}

/* Without names the active environment, where there is one. */
static int find_programs(struct jw_error *err, struct doctoring *doctoring)
{
	const struct jw_find_options find = {.size = sizeof find,
										 .names = doctoring->names,
										 .name_count = doctoring->name_count,
										 .cancel = cli_cancel};
	struct jw_error why;

	if (!jw_find(&why, &find, &doctoring->found))
		return 0;
	if (!doctoring->name_count && why.code == JW_ERR_NOT_FOUND)
		return 0;
	return error_copy(err, &why);
}

static void forget_round(struct doctoring *doctoring)
{
	jw_doctor_result_free(doctoring->result);
	jw_found_free(doctoring->found);
	jw_system_free(doctoring->cli->system);
	doctoring->result = NULL;
	doctoring->found = NULL;
	doctoring->cli->system = NULL;
}

/* Pasted, they would run as root what a container, or who calls itself root, has put there; or
 * here, for files of the same names. */
static void forget_commands(struct jw_doctor_result *result)
{
	for (size_t i = 0; i < result->finding_count; i++) {
		struct jw_finding *finding = &result->findings[i];

		if (finding->command)
			jw_lines_free(finding->command, finding->word_count);
		finding->command = NULL;
		finding->word_count = 0;
	}
}

static int look_around(struct jw_error *err, struct doctoring *doctoring)
{
	struct cli *cli = doctoring->cli;
	const struct eyes *eyes = &doctoring->eyes;
	struct jw_system_options how = {.size = sizeof how, .machine = eyes->machine};
	struct jw_doctor_options options = {.size = sizeof options,
										.probe = !eyes->inside &&
												 !options_given(&cli->options, "no-probe"),
										.cancel = cli_cancel};

	forget_round(doctoring);
	if ((!eyes->inside && cli_worker(err, cli, &how.worker)) ||
		jw_system_open(err, &how, &cli->system) || find_programs(err, doctoring))
		return -1;
	options.system = cli->system;
	options.found = doctoring->found;
	/* A process has hundreds of libraries: those with modules to compile are found in it. */
	options.names = doctoring->names;
	options.name_count = doctoring->loaded ? 0 : doctoring->name_count;
	options.process = doctoring->loaded;
	if (jw_doctor(err, &options, &doctoring->result))
		return -1;
	if (eyes->inside)
		forget_commands(doctoring->result);
	/* What a process has loaded, and is no longer there, nobody can look at. */
	doctoring->result->troubles += eyes->process.replaced_count;
	return 0;
}

static struct doctor_words words_of(const struct doctoring *doctoring)
{
	return (struct doctor_words){.before = doctoring->eyes.before,
								 .inside = doctoring->eyes.inside,
								 .environment =
									 options_value(&doctoring->cli->options, "environment")};
}

/* ---- --fix */

static bool was_fixed(const struct doctoring *doctoring, const char *line)
{
	for (size_t i = 0; i < doctoring->fixed_count; i++)
		if (!strcmp(doctoring->fixed[i], line))
			return true;
	return false;
}

/* Whether a file still sets the variable otherwise: the command leaves a line that does more than
 * that, and what belongs to the system. */
static int is_set_again(struct jw_error *err, const struct jw_finding *finding, bool *ret_again)
{
	struct jw_tune_request request = {.size = sizeof request, .scope = JW_SCOPE_USER};
	struct jw_settings *settings;
	bool *wins;
	int result;

	if (jw_settings_read(err, &settings))
		return -1;
	(void)(finding->value && text_number(finding->value, UINT64_MAX, &request.limit_bytes));
	wins = mem_array(err, settings->count + 1, sizeof *wins);
	result = wins ? jw_tune_overrides(err, settings, &request, wins) : -1;
	*ret_again = false;
	for (size_t i = 0; !result && i < settings->count; i++) {
		const struct jw_setting *setting = &settings->items[i];

		*ret_again = *ret_again ||
					 (wins[i] && *setting->where && !strcmp(setting->name, finding->variable) &&
					  strcmp(setting->source, "systemd unit") != 0);
	}
	mem_free(wins);
	jw_settings_free(settings);
	return result;
}

/* Runs jitwarm itself, in this process: the command has the account and the environment that were
 * looked at. */
static int run_fix(struct jw_error *err, struct doctoring *doctoring,
				   const struct jw_finding *finding, const char *line)
{
	const struct output *out = &doctoring->cli->out;
	char program[] = "jitwarm", quiet[] = "--quiet", *arguments[MOST_ARGUMENTS + 3] = {program};
	bool tells_less = out->json || out->quiet, again = false;
	int count = 1;

	output_line(out, STYLE_STRONG, "Fix     %s", line);
	/* Behind the command's words, and before a "--". */
	for (size_t i = 0; i < finding->word_count && count < MOST_ARGUMENTS; i++) {
		if (tells_less && !strcmp(finding->command[i], "--")) {
			arguments[count++] = quiet;
			tells_less = false;
		}
		arguments[count++] = finding->command[i];
	}
	if (tells_less)
		arguments[count++] = quiet;
	if (doctoring->cli->run_other(count, arguments) == EXIT_FAILED)
		output_warning(out, "“%s” failed", line);
	if (!finding->variable)
		return 0;
	/* As after the next login. */
	return is_set_again(err, finding, &again) ||
				   (!again && os_env_set(err, finding->variable, finding->value))
			   ? -1
			   : 0;
}

/* *ret_done: a command was run, so that another look is worthwhile. */
static int fix_found(struct jw_error *err, struct doctoring *doctoring, bool *ret_done)
{
	const struct jw_doctor_result *result = doctoring->result;
	const struct doctor_words words = words_of(doctoring);

	*ret_done = false;
	for (size_t i = 0; i < result->finding_count; i++) {
		char *line = result->findings[i].command
						 ? doctor_text_command(err, &words, &result->findings[i])
						 : NULL;

		if (result->findings[i].command && !line)
			return -1;
		if (line && !was_fixed(doctoring, line)) {
			if (mem_add_string(err, &doctoring->fixed, &doctoring->fixed_count, MOST_FIXES, line) ||
				run_fix(err, doctoring, &result->findings[i], line)) {
				mem_free(line);
				return -1;
			}
			*ret_done = true;
		}
		mem_free(line);
	}
	return 0;
}

static int look_and_fix(struct jw_error *err, struct doctoring *doctoring)
{
	const bool fix = options_given(&doctoring->cli->options, "fix");
	bool done = true;

	for (unsigned round = 0; done && round < MOST_ROUNDS; round++) {
		done = false;
		if (look_around(err, doctoring) || (fix && fix_found(err, doctoring, &done)))
			return -1;
	}
	return done ? look_around(err, doctoring) : 0;
}

/* ---- the end */

static enum exit_status status_of_findings(const struct jw_doctor_result *result)
{
	enum exit_status status = exit_of_verdict(result->verdict);

	/* Findings beyond the answer of `check`. */
	if (status != EXIT_DONE)
		return status;
	status = result->troubles ? EXIT_COLD : result->finding_count ? EXIT_CANNOT : EXIT_DONE;
	for (size_t i = 0; i < result->finding_count; i++)
		if (!result->findings[i].hopeless)
			status = EXIT_COLD;
	return status;
}

static int tell_findings(struct jw_error *err, struct doctoring *doctoring)
{
	struct cli *cli = doctoring->cli;
	struct doctor_document document = {.result = *doctoring->result,
									   .process = doctoring->eyes.process,
									   .words = words_of(doctoring),
									   .fixed = doctoring->fixed,
									   .fixed_count = doctoring->fixed_count};
	struct jw_compiler_caches *caches;
	int result;

	if (jw_compiler_caches_find(err, &caches))
		return -1;
	document.caches = *caches;
	cli->status = status_of_findings(doctoring->result);
	if (options_given(&cli->options, "report")) {
		result = doctor_text_report(err, &cli->out, cli->system, &document);
	} else {
		doctor_text(&cli->out, cli->system, &document);
		result = document_print(err, &cli->out, &document_doctor, &document);
	}
	jw_compiler_caches_free(caches);
	return result;
}

static int doctor_run(struct jw_error *err, struct cli *cli)
{
	struct doctoring doctoring = {.cli = cli};
	int failed;

	os_catch_interrupts();
	failed = choose_names(err, &doctoring) || look_and_fix(err, &doctoring) ||
			 tell_findings(err, &doctoring);
	if (failed)
		(void)cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	jw_doctor_result_free(doctoring.result);
	jw_found_free(doctoring.found);
	eyes_free(&doctoring.eyes);
	jw_lines_free(doctoring.fixed, doctoring.fixed_count);
	return failed ? -1 : 0;
}

static const struct cli_option doctor_options[] = {
	CLI_FLAG("fix", "Run the commands that are named: each is printed first, and can be undone or "
					"loses nothing"),
	CLI_FLAG("report", "Print one block for an issue, without the account's folder and name"),
	CLI_FLAG("no-probe", "Do not have the driver load a tiny module twice"),
	CLI_NUMBER("pid", "PID",
			   "Look at a running process (Linux): its variables, its account's rights (as root), "
			   "the libraries that it has loaded; as root also in a container",
			   .most = 1 << 30, .positive = true),
	CLI_VALUE("user", "NAME",
			  "Look as this account, with the variables of its next login (root, Linux)"),
	CLI_ENVIRONMENT,
	{0},
};

const struct cli_command command_doctor = {
	.name = "doctor",
	.summary = "Find out why programs start slowly, and what helps",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Asks in the order of likelihood: is there a GPU with its driver? Do settings keep the "
		"driver from its cache? Is the cache sound, is its limit large enough, can this account "
		"write there? Has every program code for the GPU, and is it in the cache? Does the driver "
		"use the cache: it gets a tiny module twice (--no-probe leaves that out; it adds an entry "
		"of 3 KB). Each finding is a line of evidence and a line that says what to do. Without a "
		"name it looks at the active Python environment.\n\nWhere nothing is found, a start is "
		"slow for another reason than the driver's compiler: another compiler with a cache of its "
		"own (Triton, XLA, NVRTC: those of this account are listed), the choice of algorithms, the "
		"loading of weights.\n\nExit "
		"status: that of “jitwarm check”, and where it is 0: 1 if something else can be done or a "
		"file could not be read, 2 if nothing can.",
	.options = doctor_options,
	.run = doctor_run,
};
