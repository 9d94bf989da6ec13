/* jitwarm which: which release of a package runs on a GPU. */
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/constraints.h"
#include "cli/document.h"
#include "cli/index_wheel.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/which_run.h"
#include "os/env.h"
#include "os/file.h"
#include "os/interrupt.h"

enum { MAX_UNREAD = 5 /* the most lines that get a warning each, and names of a list */ };

/* ---- --ask */

static void print_ask_plan(const struct cli *cli, const struct jw_asked_plan *plan,
						   const char *package)
{
	char size[TEXT_SHORT], all[TEXT_SHORT + 64] = "the index does not tell how large they are";

	if (!plan->most)
		return;
	if (plan->most_bytes)
		(void)text_format(all, sizeof all, "%s at most", text_bytes(size, plan->most_bytes));
	output_note(&cli->out,
				"%s: jitwarm's list lacks %s; downloading up to %s (%s) one after the other, and "
				"deleting each one",
				package, TEXT_COUNT(plan->lacking, "release", "releases"),
				TEXT_COUNT(plan->most, "wheel", "wheels"), all);
}

static void begin_fetching(void *context, const char *file)
{
	struct fetching *fetching = context;

	fetching_end(fetching);
	fetching->label = file;
}

static void warn_of_lack(void *context, const char *file, const char *why)
{
	struct fetching *fetching = context;

	fetching_end(fetching);
	output_warning(fetching->output, "%s: not examined: %s", file, why);
}

/* Examines the releases of pip's index, as far as the GPUs' answers need them. Of a package without
 * wheels there, the program's list may know builds that are elsewhere: then it answers. */
static int ask_index(struct jw_error *err, const struct which_run *run,
					 const struct jw_which_name *name, struct jw_which_options *options,
					 struct jw_asked **ret_asked)
{
	struct cli *cli = run->cli;
	const struct gpu_targets *gpus = &run->gpus;
	struct fetching fetching = {.output = &cli->out, .label = name->name};
	const struct jw_ask_options how = {.package = name->name,
									   .platform = run->platform,
									   .python = run->python,
									   .state_dir = cli_state(NULL, cli),
									   .fetch = fetching_options(&fetching),
									   .fetches = begin_fetching,
									   .lacks = warn_of_lack};
	struct jw_which_options question = *options;
	struct jw_asked_plan plan;
	int result = jw_asked_open(err, &how, ret_asked);

	question.package = name->name;
	question.version = name->version;
	question.range = name->range;
	question.extras = name->extras;
	if (result && err->code == JW_ERR_NOT_FOUND && jw_which_lists(name->name)) {
		output_warning(&cli->out, "%s", err->message);
		return 0;
	}
	if (!result)
		result = jw_asked_plan(err, *ret_asked, &question, gpus->targets, gpus->count, &plan);
	if (!result)
		print_ask_plan(cli, &plan, name->name);
	for (size_t i = 0; !result && i < gpus->count; i++) {
		question.target = gpus->targets[i];
		result = jw_asked_examine(err, *ret_asked, &question);
	}
	fetching_end(&fetching);
	return result;
}

/* ---- answers */

/* Returns 0 if the newest release runs on all GPUs; 1 if an older one, or a build of another index,
 * does; 2 if none does; 3 if jitwarm has not examined all that may run. */
static enum exit_status status_of(const struct jw_which_advice *advices, size_t count,
								  const struct jw_which_release *common)
{
	bool runs = true, unexamined = false;

	for (size_t i = 0; i < count; i++) {
		const struct jw_which *which = advices[i].answer;

		runs = runs && jw_which_newest(which)->answer <= JW_WHICH_COMPILES;
		unexamined = unexamined || (!which->advised && which->unexamined) || advices[i].unknown ||
					 which->releases->answer == JW_WHICH_UNFOLLOWED;
	}
	return runs ? EXIT_DONE : common ? EXIT_COLD : unexamined ? EXIT_FAILED : EXIT_CANNOT;
}

/* Adds the answers for a package on all GPUs, by a question that has all but the GPU. Refuses a
 * release of which nothing is known on any of them. */
static int answer_on_all(struct jw_error *err, struct which_run *run,
						 struct jw_which_question *question)
{
	const struct gpu_targets *gpus = &run->gpus;
	struct jw_which_advice *advices = &run->advices[run->advice_count];
	bool known = false;
	struct jw_which_sum sum;

	for (size_t i = 0; i < gpus->count; i++) {
		struct jw_which_advice *advice;

		question->options.target = gpus->targets[i];
		if (jw_which_advise(err, question, &advice))
			return -1;
		arena_join(run, advice);
		advices[i] = *advice;
		known = known || !advice->unknown;
		if (!advice->answer->count)
			return jw_which_refuse_release(err, question, advice->answer);
	}
	for (size_t i = 0; !known && i < gpus->count && output_wants_text(&run->cli->out); i++)
		if (which_print_neighbours(err, run, &advices[i]))
			return -1;
	if (!known)
		return jw_which_refuse_release(err, question, advices->answer);
	run->advice_count += gpus->count;
	jw_which_sum_up(run, advices, gpus->count, &sum);
	for (size_t i = 0; sum.common && gpus->count > 1 && i < gpus->count; i++)
		advices[i].answer->newest_on_all = sum.common->version;
	cli_end_with(run->cli, status_of(advices, gpus->count, sum.common));
	return 0;
}

/* Counts a package that has its answers; `sources` have its device code, or are NULL. */
static void note_answer(struct which_run *run, const struct jw_which_question *question,
						bool from_list, const char *sources)
{
	const struct jw_which *which = run->advices[run->advice_count - run->gpus.count].answer;
	struct jw_error why;

	if (from_list || run->asks || !run->from_list)
		run->date = which->date;
	run->from_list = run->from_list || from_list;
	run->name_count++;
	if (!sources || which->advised || !output_wants_text(&run->cli->out))
		return;
	(void)jw_which_refuse_for_sources(&why, question);
	output_note(&run->cli->out, "%s", why.message);
}

/* Answers for one package. *ret_listed: the list, or the index, has it. */
static int answer_package(struct jw_error *err, struct which_run *run, bool *ret_listed)
{
	struct cli *cli = run->cli;
	struct jw_which_name *name = &run->names[run->name_count];
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char *other_index = os_env("PIP_INDEX_URL");
	struct jw_asked *asked = NULL;
	struct jw_which_question question = {.name = name,
										 .options = {.driver = run->gpus.driver,
													 .platform = run->platform,
													 .python = run->python,
													 .target = *run->gpus.targets},
										 .platform_title = run->for_platform->title,
										 .packages = run->packages,
										 .package_count = run->package_count,
										 .all = options_given(&cli->options, "all"),
										 .asks = run->asks,
										 .python_typed = options_given(&cli->options, "python"),
										 .other_index = other_index && *other_index};
	const char *sources =
		name->version && strchr(name->version, '+') ? NULL : jw_which_sources(name->name);
	int result = 0;

	*ret_listed = run->asks;
	which_add_command(&command, cli);
	question.command = arena_string(run, buf_text(&command));
	buf_free(&command);
	mem_free(other_index);
	if (cli->system)
		question.options.speed = cli->system->speed;
	/* The wheels of keras do not say which package it loads. */
	if (sources && strchr(sources, '|') && !name->version && !name->range)
		return jw_which_refuse_for_sources(err, &question);
	if (run->asks)
		result = ask_index(err, run, name, &question.options, &asked);
	else
		asked = jw_asked_kept(&(struct jw_ask_options){
			.package = name->name, .platform = run->platform, .state_dir = cli_state(NULL, cli)});
	if (asked) {
		question.options.index = jw_asked_index(asked);
		question.options.list = jw_asked_text(asked);
		run->index = arena_string(run, question.options.index);
	}
	*ret_listed = *ret_listed || asked || jw_which_lists(name->name);
	if (!result && *ret_listed)
		result = answer_on_all(err, run, &question);
	else if (!result)
		result = jw_which_refuse_package(err, &question);
	if (!result)
		note_answer(run, &question, !asked, sources);
	jw_asked_close(asked);
	return result;
}

/* Adds a line or a name that jitwarm cannot read to `unlisted`, ends the command with status 3, and
 * prints why, for the first ones. */
static void add_unread(struct which_run *run, const char *what, const char *why)
{
	arena_add_string(run, &run->unlisted, &run->unlisted_count, SIZE_MAX, what);
	cli_end_with(run->cli, EXIT_FAILED);
	if (++run->unread <= MAX_UNREAD)
		output_warning(&run->cli->out, "%s", why);
	else if (run->unread == MAX_UNREAD + 1)
		output_warning(&run->cli->out,
					   "more lines of %s have no answer; “--json” lists them as “unlisted”",
					   run->file);
}

/* Answers for all packages. Those of a file that the list lacks share a line. */
static int answer_packages(struct jw_error *err, struct which_run *run)
{
	const struct output *out = &run->cli->out;
	struct buf left_out = BUF_MAX(4096);
	const size_t count = run->package_count;
	size_t unknown = 0;
	int result = 0;

	run->advices = arena_alloc(run, (count * run->gpus.count + 1) * sizeof *run->advices);
	run->names = arena_alloc(run, (count + 1) * sizeof *run->names);
	for (size_t i = 0; !result && i < count; i++) {
		const char *typed = run->packages[i];
		struct jw_error why;
		bool listed;

		if (jw_which_name_read(&why, typed, &run->names[run->name_count])) {
			add_unread(run, typed, why.message);
			continue;
		}
		if (!answer_package(&why, run, &listed))
			continue;
		/* The other packages have their answers. */
		if (why.code != JW_ERR_NOT_FOUND || (count == 1 && !run->file)) {
			result = error_copy(err, &why);
			continue;
		}
		arena_add_string(run, &run->unlisted, &run->unlisted_count, SIZE_MAX, typed);
		if (listed || !run->file) {
			cli_end_with(run->cli, EXIT_FAILED);
			output_warning(out, "%s", why.message);
		} else if (jw_which_sources(run->names[run->name_count].name)) {
			output_note(out, "%s", why.message);
		} else if (unknown++ < MAX_UNREAD) {
			buf_add(&left_out, "%s%s", left_out.size ? ", " : "", run->names[run->name_count].name);
		}
	}
	if (!result && count && unknown == count && run->file)
		result = error_set(err, JW_ERR_NOT_FOUND, "%s: jitwarm's list has none of these packages",
						   run->file);
	if (!result && unknown > MAX_UNREAD)
		buf_add(&left_out, " and %zu more", unknown - MAX_UNREAD);
	if (!result && unknown)
		output_note(out, "%s: not in jitwarm's list, so left out; --ask looks at these, too",
					buf_text(&left_out));
	buf_free(&left_out);
	return result;
}

/* ---- the question */

/* Returns whether a word is a file or folder, as people mean it: “torch” is a package, although a
 * folder may have that name. */
static bool is_file(const char *word)
{
	return (strpbrk(word, "/.\\") || !strcmp(word, "Dockerfile") || !strcmp(word, "Pipfile")) &&
		   !text_ends(word, ".whl") && os_exists(word);
}

/* Refuses a word that names no package, also a version as a word of its own, before the first
 * answer is printed. */
static int check_word(struct jw_error *err, const char *word, const char *before)
{
	struct jw_which_name name;

	if (!strcmp(word, "-"))
		return error_set(err, JW_ERR_USAGE,
						 "“jitwarm which -r -” reads a list from the standard input");
	if (options_refuse_address(err, word))
		return -1;
	if (is_file(word))
		return error_set(err, JW_ERR_USAGE, "%s is a file: write “-r %s”", word, word);
	if (strchr(word, '/') && strchr(strrchr(word, '/'), ':'))
		return error_set(
			err, JW_ERR_USAGE,
			"“%.200s” is an image of containers: run “jitwarm check” inside the container", word);
	if (jw_which_name_read(err, word, &name))
		return -1;
	if (before && !name.version && !name.range && text_is_digit(*word) &&
		(strchr(word, '.') || !word[strspn(word, "0123456789")]))
		return error_set(err, JW_ERR_USAGE, "“%.100s”: a version is written as in “%.100s==%.100s”",
						 word, before, word);
	return 0;
}

/* Returns whether an environment is active: with --target, the Python of PATH does not count. */
static bool is_active(void)
{
	char *venv = os_env("VIRTUAL_ENV"), *conda = os_env("CONDA_PREFIX");
	const bool active = venv || conda;

	mem_free(venv);
	mem_free(conda);
	return active;
}

/* Prints the same command with a GPU. */
static int refuse_without_gpu(struct jw_error *err, const struct cli *cli)
{
	static const char *const kept[] = {"driver", "requirements", "platform", "python",
									   "all",    "ask",          "json",     "constraints",
									   "output", "index",        "format",   NULL};
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char *text;

	buf_add(&command, "jitwarm which --target %s", cli->system->example);
	next_step_keep(&command, &cli->options, kept);
	next_step_names(&command, &cli->options);
	text = next_step_take(&command);
	error_set(err, JW_ERR_USAGE, "%s; name the GPU that the answer is for, for example: “%s”",
			  cli->system->why_none, text);
	mem_free(text);
	return -1;
}

/* Finds the GPUs in question: those of --target, else this machine's. */
static int gpus_in_question(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus)
{
	if (gpu_targets_read(err, cli, gpus))
		return -1;
	if (!gpus->count) {
		if (cli_open_asleep(err, cli, NULL, JW_ASK_UNKNOWN) ||
			gpu_targets_add_own(err, gpus, cli->system))
			return -1;
		if (!gpus->count)
			return refuse_without_gpu(err, cli);
		if (!options_given(&cli->options, "driver"))
			gpus->driver = cli->system->driver.version;
	}
	return gpu_targets_keep_run(err, cli, gpus);
}

/* Reads the packages in question: those of -r, or of the line. */
static int read_packages(struct jw_error *err, struct which_run *run)
{
	const struct options *given = &run->cli->options;
	struct jw_which_names *names;

	run->packages = given->operands;
	run->package_count = given->operand_count;
	if (!run->file)
		return 0;
	if (jw_which_read_names(err, run->file, run->platform, run->python, &names))
		return -1;
	arena_join(run, names);
	run->packages = (const char *const *)names->items;
	run->package_count = names->count;
	if (names->left_out)
		output_note(&run->cli->out,
					"%s: %s left out: options, files, addresses and other lists are not followed",
					run->file, TEXT_COUNT(names->left_out, "line", "lines"));
	for (size_t i = 0; i < names->unread_count; i++)
		add_unread(run, names->unread[i],
				   arena_printf(run,
								"%s: jitwarm cannot read this line; write it as “torch==2.7.1” or "
								"“torch>=2,<2.3”",
								names->unread[i]));
	return 0;
}

/* Finds the list in question, of -r or as the only word, and checks the words. */
static int check_words(struct jw_error *err, struct which_run *run)
{
	const struct options *given = &run->cli->options;
	size_t count = given->operand_count;
	struct os_stat stat;

	run->file = options_value(given, "requirements");
	if (!run->file && count == 1 && is_file(*given->operands)) {
		run->file = *given->operands;
		count = 0;
	}
	if (run->file && !os_stat(NULL, run->file, &stat) && stat.kind == OS_DIRECTORY)
		return error_set(err, JW_ERR_USAGE, "%s is a folder: “jitwarm check %s” looks at its files",
						 run->file, run->file);
	if (run->file && count)
		return error_set(err, JW_ERR_USAGE, "-r FILE takes no other names");
	if (!run->file && !count)
		return error_set(err, JW_ERR_USAGE,
						 "which: name a package, for example “jitwarm which torch”");
	for (size_t i = 0; i < count; i++)
		if (check_word(err, given->operands[i], i ? given->operands[i - 1] : NULL))
			return -1;
	return 0;
}

static int which_run(struct jw_error *err, struct cli *cli)
{
	const struct options *given = &cli->options;
	const char *platform = options_value(given, "platform"),
			   *python = options_value(given, "python");
	struct which_run *run;
	char version[JW_PYTHON_VERSION];
	struct gpu_targets gpus;
	int result = -1;

	if (constraints_check_options(err, cli))
		return -1;
	if (options_given(given, "constraints"))
		return gpus_in_question(err, cli, &gpus) ? -1 : constraints_run(err, cli, &gpus);
	if (python && index_wheel_python(err, python, version))
		return -1;
	run = arena_open(sizeof *run);
	run->cli = cli;
	run->index = "PyPI";
	run->asks = options_given(given, "ask");
	if (check_words(err, run) || gpus_in_question(err, cli, &run->gpus))
		goto done;
	if (python || ((!options_given(given, "target") || run->asks || is_active()) &&
				   jw_environment_python(version)))
		run->python = version;
	if (!platform)
		platform = run->gpus.arm ? "linux-aarch64" : jw_which_own_platform();
	if (wheel_platform_read(err, platform, &run->for_platform))
		goto done;
	run->platform = platform;
	if (run->asks)
		os_catch_interrupts();
	if (read_packages(err, run) || answer_packages(err, run))
		goto done;
	which_find_commands(run);
	result = which_print(err, run);
	if (!result)
		result = document_print(&cli->out, &document_which, run);
done:
	jw_result_free(run);
	return result;
}

static const struct cli_option which_options[] = {
	GPUS_OPTIONS,
	CLI_VALUE("requirements", "FILE",
			  "Answer for the packages of a requirements.txt, a pylock.toml or pip's report",
			  .letter = 'r', .names = NAMES_FILE),
	CLI_VALUE("platform", "NAME",
			  "Answer for this platform instead of the platform of this machine",
			  .choices = "linux|linux-aarch64|windows"),
	CLI_VALUE("python", "VERSION", "Answer for this Python (3.11), not the active one"),
	CLI_FLAG("all", "Print every release in a row of its own"),
	CONSTRAINTS_OPTIONS,
	CLI_FLAG("ask", "Also examine releases that the list lacks: download their wheels with pip"),
	PROGRESS_OPTION,
	{0}};

const struct cli_command command_which = {
	.name = "which",
	.summary = "Show which releases of a package run on a GPU",
	.usage =
		"[OPTION]… NAME[==VERSION]…\n[OPTION]… -r FILE\n--constraints [OPTION]… [-r FILE] [NAME]…",
	.description =
		"Shows which releases of a package run on your GPU, driver and Python, and how to install "
		"the newest one.\n\nFor NAME==VERSION, the answer is for this release; for a range "
		"(NAME>=2,<2.3), for the releases in it. The answers come "
		"from a list of the code in released wheels, so neither a network nor a GPU is "
		"needed. --constraints without a name covers all packages of the list. --ask uses the "
		"index that is set for pip, keeps the answers and deletes the wheels.\n\nExit status: 0 if "
		"the newest release, or the named one, runs or compiles on "
		"all "
		"GPUs, 1 if an older one does, 2 if none does, or the driver "
		"does not run a GPU, 3 if "
		"jitwarm has not examined all that may run, or lacks an answer.",
	.examples = "jitwarm which torch\njitwarm which --target gtx1080 torch\njitwarm which "
				"torch==2.8.0\njitwarm which torch "
				"--ask\n",
	.options = which_options,
	.reads = true,
	.columns = 100,
	.run = which_run,
};
