/* jitwarm which: which release of a package runs on a GPU. */
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/which.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/gpu_targets.h"
#include "cli/index_wheel.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/verdict_table.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/interrupt.h"

enum {
	MAX_ROWS = 10,
	MAX_NAMED = 5 /* the most names of packages that are left out */
};

/* ---- the document */

#define RELEASE(member, ...) JSON(struct jw_which_release, member, __VA_ARGS__)

static const char *const answer_names[] = {
	[JW_WHICH_RUNS] = "runs",
	[JW_WHICH_COMPILES] = "compiles",
	[JW_WHICH_CPU] = "cpu_only",
	[JW_WHICH_FAILS] = "fails",
	[JW_WHICH_NO_PYTHON] = "other_python",
	[JW_WHICH_NO_WHEEL] = "no_wheel",
	[JW_WHICH_UNKNOWN] = "unknown",
	NULL,
};

static const struct json_field release_fields[] = {
	RELEASE(version, "the version of the release"),
	RELEASE(
		answer,
		"`runs`: most of its main library runs without compiling; `compiles`: it runs after "
		"compiling; `cpu_only`: it has no code for GPUs and runs on the CPU; `fails`; "
		"`other_python`: its wheels are for other versions of Python; `no_wheel`: it has no wheel "
		"for the platform; `unknown`: the list has nothing of its wheel",
		.names = answer_names),
	RELEASE(why,
			"why the release, or what `without` names, fails; if it runs otherwise, on which "
			"condition; with `other_python`, the versions of Python that the release is for",
			.presence = JSON_UNLESS_NULL),
	RELEASE(library,
			"the largest library that fails, or the one of `without`; or the package of `pin`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(lacks, "a library that it needs and that has no machine code for the GPU: `cuBLAS 11`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(newer, "what needs a newer driver, if the release runs otherwise: `FlashAttention 2`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(without, "what does not run on the GPU, if the release runs otherwise: `torch.linalg`",
			.presence = JSON_UNLESS_NULL),
	JSON_FORMATTED("needs", struct jw_which_release, needs, document_needs,
				   "the first driver with which the release, or what `newer` names, runs",
				   .presence = JSON_IF_SET),
	RELEASE(modules, "modules that a start compiles, at most"),
	JSON_OBJECT_OF("start_seconds", struct jw_which_release, start, &document_span,
				   "the time that the driver takes to compile these modules, on one core"),
	JSON_FORMATTED(
		"loading", struct jw_which_release, loading, document_loading,
		"when a program compiles these modules: `eager` (all of them when it starts), `lazy` "
		"(those that it uses, when it first uses them) or `mixed`; missing without modules",
		.presence = JSON_IF_SET),
	RELEASE(inferred,
			"the release was not looked at: the nearest newer and older ones that were have the same "
			"answer"),
	RELEASE(file,
			"the wheel that was looked at; with `inferred`, the wheel of the release that it is "
			"like; missing if the release has no wheel for the platform",
			.presence = JSON_UNLESS_NULL),
	RELEASE(pin,
			"a package that the release requires in one version which fails on this GPU, and that "
			"version",
			.presence = JSON_UNLESS_NULL),
	RELEASE(beside,
			"a requirement for pip beside the release, because the newest version of that package, "
			"which the extras bring, fails on the GPU",
			.presence = JSON_UNLESS_NULL),
	{0},
};

const struct json_table document_release = {.fields = release_fields,
											.size = sizeof(struct jw_which_release)};

static const char *answer_newest(char room[JSON_ROOM], const void *answer)
{
	const struct jw_which_release *advised = ((const struct jw_which *)answer)->advised;

	(void)room;
	return advised ? advised->version : "";
}

static const struct json_field answer_fields[] = {
	JSON(struct jw_which, package, "the package, as indexes name it"),
	JSON(struct jw_which, index,
		 "the index that the answer holds for: `PyPI`, or another one's address without "
		 "`https://`"),
	JSON(struct jw_which, date,
		 "the day on which the list of releases was made, or on which `--ask` asked the index"),
	JSON_FORMATTED("target", struct jw_which, target, document_sm, "the GPU: `sm_86`"),
	JSON_FORMATTED_OF("newest", answer_newest,
					  "the newest release that runs; if none does, the newest that runs after "
					  "compiling, or without some of it",
					  .presence = JSON_IF_SET),
	JSON(struct jw_which, newest_on_all,
		 "with several GPUs: the newest release that runs on all of them, chosen like `newest`",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_which, examined_from,
		 "the oldest release that jitwarm has examined, if it has not examined older ones",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_which, unexamined,
		 "how many releases before `examined_from` jitwarm has not examined; without "
		 "`examined_from`: how many of all",
		 .presence = JSON_IF_SET),
	JSON_LIST_OF("releases", struct jw_which, releases, count, &document_release,
				 "the releases, the newest first; for NAME==VERSION, that one alone, and for a "
				 "range those in it"),
	{0},
};

struct which_document {
	struct jw_which *answers;
	size_t count;
	const char **unlisted; /* the packages without an answer, as typed */
	size_t unlisted_count;
	const char *index, *date, *platform, *python;
	const char *install; /* the package in question with its extras, as pip installs it */
	char asked_index[256];
	struct jw_driver driver;
	bool from_list; /* an answer comes from the program's list */
};

static const struct json_field which_fields[] = {
	JSON(struct which_document, index,
		 "the index that the answers hold for: `PyPI`; with `--ask`, another one's address without "
		 "`https://`"),
	JSON(struct which_document, date,
		 "the day on which the list of releases was made; with `--ask`: today",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct which_document, platform,
		 "the platform of the wheels: `linux`, `linux-aarch64` or `windows`"),
	JSON(struct which_document, python, "the version of Python", .presence = JSON_UNLESS_NULL),
	JSON_FORMATTED("driver", struct which_document, driver, document_needs,
				   "the driver in question; missing for the newest one", .presence = JSON_IF_SET),
	JSON_LIST_OF("answers", struct which_document, answers, count,
				 JSON_TABLE(struct jw_which, answer_fields), "an object for each package and GPU"),
	JSON_LINES_OF("unlisted", struct which_document, unlisted, unlisted_count,
				  "the packages, and releases, without an answer: the list, or the index, lacks them"),
	{0},
};
const struct json_table document_which = {.schema = "jitwarm.which/1", .fields = which_fields};

/* ---- the text */

static enum style style_of(const struct jw_which_release *release)
{
	switch (release->answer) {
	case JW_WHICH_RUNS: return release->without || release->newer ? STYLE_WARN : STYLE_GOOD;
	case JW_WHICH_COMPILES: return STYLE_WARN;
	case JW_WHICH_FAILS: return STYLE_BAD;
	case JW_WHICH_CPU:
	case JW_WHICH_NO_PYTHON:
	case JW_WHICH_NO_WHEEL:
	case JW_WHICH_UNKNOWN: break;
	}
	return STYLE_FAINT;
}

/* Appends what a release that runs does, or some that do; `least` and `most` have the shortest and
 * the longest time of them. */
static void add_running(struct buf *text, const struct jw_which_release *release,
						const struct jw_which_release *least, const struct jw_which_release *most,
						bool several)
{
	const bool lazy = verdict_is_lazy(most->loading, &most->start),
			   timed = jw_which_has_time(release);
	char span[TEXT_SHORT];

	(void)text_span(span, least->start.high, most->start.high);
	if (release->answer == JW_WHICH_RUNS || release->without)
		buf_add(text, several ? "run" : "runs");
	if (release->without && !release->library)
		buf_add(text, ", but not with %s", release->without);
	else if (release->without && strcmp(release->without, release->library) != 0)
		buf_add(text, " without %s: %s has %s", release->without, release->library, release->why);
	else if (release->without)
		buf_add(text, " without %s, which has %s", release->library, release->why);
	else if (release->why)
		buf_add(text, ", %s", release->why);
	if (timed)
		buf_add(text, "%s", text->size ? "; " : "");
	if (timed && lazy)
		buf_add(text,
				several ? "compile their kernels when first used, at most %s for all"
						: "compiles its kernels when first used, up to %s for all",
				span);
	else if (timed)
		buf_add(text,
				several ? "compile their kernels when they start, at most %s"
						: "compiles its kernels when it starts, up to %s",
				span);
	if (release->newer)
		buf_add(text, "; some of it (%s) needs driver %u", release->newer,
				release->needs.release[0]);
}

/* Prints the answer for some releases in one line. */
static void print_answer(struct table *table, const struct jw_which_release *release,
						 const struct jw_which_release *least, const struct jw_which_release *most,
						 bool several)
{
	const enum style style = style_of(release);
	struct buf text = BUF_MAX(VERDICT_SENTENCE);

	if (release->answer <= JW_WHICH_COMPILES) {
		add_running(&text, release, least, most, several);
		table_cell(table, style, "%s", buf_text(&text));
	} else if (release->pin) {
		table_cell(table, style,
				   several ? "fail: they require %s, which fails: %s"
						   : "fails: it requires %s, which fails: %s",
				   several ? release->library : release->pin, release->why);
	} else if (release->lacks) {
		table_cell(table, style,
				   several ? "fail: they need %s, which has %s"
						   : "fails: it needs %s, which has %s",
				   release->lacks, release->why);
	} else if (release->needs.cuda) {
		table_cell(table, style,
				   several ? "fail: they need driver %u" : "fails: it needs driver %u",
				   release->needs.release[0]);
	} else if (release->answer == JW_WHICH_FAILS) {
		table_cell(table, style, several ? "fail: %s" : "fails: %s", release->why);
	} else if (release->answer == JW_WHICH_NO_PYTHON) {
		table_cell(table, style, several ? "need Python %s" : "needs Python %s", release->why);
	} else if (release->answer == JW_WHICH_CPU && text_ends(release->file, "-any.whl")) {
		table_cell(table, style,
				   several ? "have no device code of their own: the packages that they import decide"
						   : "has no device code of its own: the packages that it imports decide");
	} else if (release->answer == JW_WHICH_CPU) {
		table_cell(
			table, style,
			several
				? "have no device code: they run on the CPU, unless they make code while they run"
				: "has no device code: it runs on the CPU, unless it makes code while it runs");
	} else if (release->answer == JW_WHICH_NO_WHEEL) {
		table_cell(table, style,
				   several ? "have no wheel for this platform" : "has no wheel for this platform");
	} else {
		table_cell(table, style,
				   several ? "are not in jitwarm's list" : "is not in jitwarm's list");
	}
	buf_free(&text);
}

/* Returns whether anything is known about some release. */
static bool is_any_known(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (which->releases[i].answer != JW_WHICH_UNKNOWN &&
			which->releases[i].answer != JW_WHICH_NO_WHEEL)
			return true;
	return false;
}

/* Returns whether a release has no row unless all are requested: nothing is known of it though
 * something is known of others, or it has no wheel for the platform though a newer and an older one
 * have. */
static bool has_no_row(const struct jw_which *which, size_t at)
{
	bool newer = false, older = false;

	if (which->releases[at].answer == JW_WHICH_UNKNOWN)
		return is_any_known(which);
	if (which->releases[at].answer != JW_WHICH_NO_WHEEL)
		return false;
	for (size_t i = 0; i < which->count; i++)
		if (which->releases[i].answer != JW_WHICH_NO_WHEEL) {
			newer = newer || i < at;
			older = older || i > at;
		}
	return newer && older;
}

/* Adds a release, and the one with whose answer it is answered: "2.7.0, as 2.7.1". */
static void add_version(struct table *table, const struct jw_which_release *release, bool inferred)
{
	struct wheel_name like;
	char version[64];

	if (inferred && wheel_name_read(release->file, &like))
		table_cell(table, STYLE_PLAIN, "  %s, as %s", release->version,
				   wheel_part_text(version, sizeof version, like.version));
	else
		table_cell(table, STYLE_PLAIN, "  %s", release->version);
}

/* Adds rows of releases with the same answer, newest first; returns the number of rows that were
 * left out. */
static size_t add_rows(struct table *table, const struct jw_which *which, bool all)
{
	size_t rows = 0, left_out = 0, next;

	for (size_t i = 0; i < which->count; i = next) {
		const struct jw_which_release *first = &which->releases[i], *last = first;
		const struct jw_which_release *least = first, *most = first;

		next = i + 1;
		if (!all && has_no_row(which, i))
			continue;
		for (; !all && next < which->count; next++) {
			const struct jw_which_release *release = &which->releases[next];

			if (has_no_row(which, next))
				continue;
			if (!jw_which_same(first, release))
				break;
			last = release;
			most = release->start.high > most->start.high ? release : most;
			least = release->start.high < least->start.high ? release : least;
		}
		if (!all && rows == MAX_ROWS) {
			left_out++;
			continue;
		}
		rows++;
		if (last == first)
			add_version(table, first, first->inferred && (all || which->count == 1));
		else
			table_cell(table, STYLE_PLAIN, "  %s – %s", first->version, last->version);
		print_answer(table, first, least, most, last != first);
	}
	return left_out;
}

static const char *platform_text(const char *platform)
{
	return !strcmp(platform, "windows")         ? "Windows x86-64"
		   : !strcmp(platform, "linux-aarch64") ? "Linux arm64"
												: "Linux x86-64";
}

/* Prints "torch from PyPI on NVIDIA GeForce RTX 3070 (sm_86), driver 550.163.01, linux, Python
 * 3.11". */
static void print_head(const struct cli *cli, const struct which_document *document,
					   const struct jw_which *which)
{
	char gpu[GPUS_MARKETED], driver[JW_DRIVER_TEXT], python[24] = "";

	if (document->python)
		(void)text_format(python, sizeof python, ", Python %s", document->python);
	output_line(&cli->out, STYLE_STRONG,
				document->driver.cuda ? "%s from %s on %s, driver %s, %s%s"
									  : "%s from %s on %s, %snewest driver, %s%s",
				which->package, document->index,
				gpu_targets_marketed(gpu, &cli->out, which->target, cli->system),
				document->driver.cuda ? jw_driver_text(driver, &document->driver) : "",
				platform_text(document->platform), python);
}

/* Prints the command that installs a release: the named one (`gpus` is 0), or the newest that runs
 * on so many GPUs. */
static void print_install(const struct cli *cli, const struct which_document *document,
						  const struct jw_which *which, const struct jw_which_release *release,
						  size_t gpus)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	const char *version = release->version;
	bool labelled = false;
	char text[128], *requirement;

	for (size_t i = 0; i < which->count; i++)
		labelled = labelled || version_is_build_of(which->releases[i].version, version);
	if (gpus > 1)
		(void)text_format(text, sizeof text,
						  release->answer == JW_WHICH_COMPILES
							  ? "Newest that runs on all %zu GPUs, after compiling: "
						  : release->without
							  ? "Newest that runs on all %zu GPUs, except for some of it: "
							  : "Newest that runs on all %zu GPUs: ",
						  gpus);
	else
		(void)text_format(text, sizeof text, "%s",
						  !gpus                                  ? "To install this release: "
						  : release->answer == JW_WHICH_COMPILES ? "Newest that runs, after compiling: "
						  : release->without ? "Newest that runs, except for some of it: "
											 : "Newest that runs: ");
	if (release->beside)
		output_line(&cli->out, STYLE_PLAIN,
					"pip takes the newest %.*s, which fails on this GPU; %s runs.",
					(int)strcspn(release->beside, "="), release->beside, release->beside);
	requirement = mem_printf(labelled ? "%s===%s" : "%s==%s", document->install, version);
	buf_add(&command, "pip");
	shell_add_word(&command, "install");
	shell_add_word(&command, requirement);
	if (release->beside)
		shell_add_word(&command, release->beside);
	mem_free(requirement);
	next_step(&cli->out, STYLE_GOOD, text, &command);
}

/* Prints the release that all GPUs of the answers for a package run. */
static void print_common(const struct cli *cli, const struct which_document *document,
						 const struct jw_which *answers, size_t count,
						 const struct jw_which_release *common)
{
	if (common)
		print_install(cli, document, answers, common, count);
	else
		output_line(&cli->out, STYLE_BAD, "No release that jitwarm has examined runs on all %zu GPUs.",
					count);
}

static void print_other_index(const struct cli *cli, const struct jw_which *which)
{
	char *index = os_env("PIP_INDEX_URL");

	if (index && *index)
		output_line(&cli->out, STYLE_PLAIN,
					"These answers are for PyPI. To ask the index in PIP_INDEX_URL, whose builds "
					"may differ, use --ask.");
	else if (package_fact_of("index", which->package))
		output_line(&cli->out, STYLE_PLAIN,
					"PyTorch's own index has builds of %s for other CUDA versions, which may run "
					"if the builds on PyPI do not. To ask this index, set PIP_INDEX_URL to its "
					"address, which PyTorch's page “Get Started” shows, and use --ask.",
					which->package);
	mem_free(index);
}

/* Appends “jitwarm which” with the options of the question, without --ask. */
static void add_which(struct buf *command, const struct cli *cli)
{
	static const char *const kept[] = {"target", "driver", "platform", "python", NULL};

	buf_add(command, "jitwarm which");
	next_step_keep(command, &cli->options, kept);
}

/* Returns whether no release runs, but an older one than the examined ones may run. */
static bool lacks_examined(const struct jw_which *which)
{
	return !which->advised && which->unexamined;
}

static void print_unexamined(const struct cli *cli, const struct jw_which *which)
{
	if (which->examined_from)
		output_line(&cli->out, STYLE_BAD,
					"No release from %s on runs on this GPU. jitwarm has not examined %s.",
					which->examined_from,
					TEXT_COUNT(which->unexamined, "older release", "older releases"));
	else
		output_line(&cli->out, STYLE_BAD, "jitwarm has not examined %s of %s for this platform.",
					TEXT_COUNT(which->unexamined, "release", "releases"), which->package);
}

/* Prints the command that examines all releases, after the answer for one. */
static void print_examine(const struct cli *cli, const struct jw_which *which)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	add_which(&command, cli);
	shell_add_word(&command, which->package);
	buf_add(&command, " --ask");
	next_step(&cli->out, STYLE_PLAIN, "To examine them: ", &command);
}

/* Prints why no release runs: the GPU, or the driver, the Python or the platform. */
static void print_none(const struct cli *cli, const struct which_document *document,
					   const struct jw_which *which)
{
	const struct output *out = &cli->out;
	const char *index = document->index, *python = NULL, *platform;
	char driver[JW_DRIVER_TEXT] = "";
	size_t failing = 0, without_code = 0, without_wheel = 0;

	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];

		failing += release->answer == JW_WHICH_FAILS;
		without_code += release->answer == JW_WHICH_CPU;
		without_wheel += release->answer == JW_WHICH_NO_WHEEL;
		if (release->answer == JW_WHICH_NO_PYTHON)
			python = document->python;
		if (release->answer == JW_WHICH_FAILS && release->needs.cuda)
			(void)jw_driver_text(driver, &document->driver);
	}
	platform = platform_text(document->platform);
	if (which->unexamined)
		print_unexamined(cli, which);
	else if (without_wheel == which->count)
		output_line(out, STYLE_BAD, "%s has no wheel of %s for %s.", index, which->package,
					platform);
	else if (!failing && without_code && python)
		output_line(out, STYLE_BAD, "%s has no wheel of %s with device code for %s and Python %s.",
					index, which->package, platform, python);
	else if (!failing && without_code)
		output_line(out, STYLE_BAD, "%s has no wheel of %s with device code for %s.", index,
					which->package, platform);
	else if (*driver && python)
		output_line(out, STYLE_BAD,
					"No release on %s runs on this GPU with driver %s and Python %s.", index,
					driver, python);
	else if (*driver)
		output_line(out, STYLE_BAD, "No release on %s runs on this GPU with driver %s.", index,
					driver);
	else if (python)
		output_line(out, STYLE_BAD, "No release on %s runs on this GPU with Python %s.", index,
					python);
	else
		output_line(out, STYLE_BAD, "No release on %s runs on this GPU.", index);
}

/* Prints the command that answers for all releases, after the answer for one. */
static void print_others(const struct cli *cli, const struct jw_which *which)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	add_which(&command, cli);
	shell_add_word(&command, which->package);
	if (options_given(&cli->options, "ask"))
		buf_add(&command, " --ask");
	next_step(&cli->out, STYLE_PLAIN, "Other releases: ", &command);
}

/* Prints an answer. For one release, `of_all` has the answers for all releases; else it is NULL. */
static int print_which(struct jw_error *err, const struct cli *cli,
					   const struct which_document *document, const struct jw_which *which,
					   const struct jw_which *of_all)
{
	const struct output *out = &cli->out;
	struct table table = {.columns = 2};
	const bool all = options_given(&cli->options, "all");
	const size_t left_out = add_rows(&table, which, all);
	const struct jw_which *from = of_all ? of_all : which;
	int result;

	print_head(cli, document, which);
	result = table_print(err, &table, out);
	table_free(&table);
	if (left_out)
		output_line(out, STYLE_FAINT, "  older releases: --all");
	if (!of_all && !which->advised) {
		print_none(cli, document, which);
	} else if (of_all && lacks_examined(of_all)) {
		print_unexamined(cli, of_all);
		if (!options_given(&cli->options, "ask"))
			print_examine(cli, of_all);
	}
	/* For one release that runs, no other one is named. */
	if (from->advised && (!of_all || which->releases->answer >= JW_WHICH_CPU))
		print_install(cli, document, from, from->advised, 1);
	if (of_all && which->releases->beside)
		print_install(cli, document, which, which->releases, 0);
	if (of_all)
		print_others(cli, which);
	return result;
}

/* ---- the command */

/* A package in question. */
struct wanted {
	char name[PACKAGE_MAX_NAME];        /* as typed, without extras */
	char extras[PACKAGE_MAX_NAME];      /* "[cuda12]", or "" */
	char install[2 * PACKAGE_MAX_NAME]; /* what pip installs: the name as typed with its extras */
	const char *typed;                  /* with versions and extras */
	const char *version;                /* of NAME==VERSION and of a wheel's name; else NULL */
	const char *range;                  /* of NAME>=VERSION,<VERSION; else NULL */
	char of_wheel[64];
};

/* Returns 0 if the newest release runs on all GPUs; 1 if an older one does; 2 if none does; 3 if
 * jitwarm has not examined all that may run. */
static enum exit_status status_of(const struct jw_which *answers, size_t count,
								  const struct jw_which_release *common)
{
	bool runs = true, unexamined = false;

	for (size_t i = 0; i < count; i++) {
		runs = runs && answers[i].releases->answer <= JW_WHICH_COMPILES;
		unexamined = unexamined || lacks_examined(&answers[i]);
	}
	return runs ? EXIT_DONE : common ? EXIT_COLD : unexamined ? EXIT_FAILED : EXIT_CANNOT;
}

/* Appends the command that looks at releases that the list lacks: for these packages, or, if there
 * are none, for those that were typed. */
static void add_ask(struct buf *command, const struct cli *cli, const struct jw_which *answers,
					size_t count)
{
	add_which(command, cli);
	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(answers[i].package, answers[i - 1].package))
			shell_add_word(command, answers[i].package);
	if (!count)
		next_step_names(command, &cli->options);
	buf_add(command, " --ask");
}

/* Returns the package in the list of wheels that has the device code of `package`, or NULL. */
static const char *listed_for(const char *package)
{
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next("device", &at));)
		if (text_equal_fold(package, fact->name))
			return fact->values[0];
	return NULL;
}

/* Appends the command that looks at the releases of one package. */
static void add_ask_one(struct buf *command, const struct cli *cli, const struct wanted *wanted)
{
	add_which(command, cli);
	shell_add_word(command, wanted->typed);
	buf_add(command, " --ask");
}

/* Sets the error for a package that the list lacks. */
static void set_unknown(struct jw_error *err, const struct cli *cli, const struct wanted *wanted)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	const char *package = wanted->name, *listed = listed_for(package);
	char *text, *nearest = listed ? NULL : jw_which_nearest(package);

	if (listed) {
		add_which(&command, cli);
		shell_add_word(&command, listed);
	} else {
		add_ask_one(&command, cli, wanted);
	}
	text = next_step_take(&command);
	if (listed)
		error_set(err, JW_ERR_NOT_FOUND, "%s: not in jitwarm's list; did you mean %s? “%s”",
				  package, listed, text);
	else if (nearest)
		error_set(err, JW_ERR_NOT_FOUND,
				  "%s: not in jitwarm's list; did you mean %s? “%s” looks at its releases", package,
				  nearest, text);
	else
		error_set(err, JW_ERR_NOT_FOUND, "%s: not in jitwarm's list; “%s” looks at its releases",
				  package, text);
	mem_free(nearest);
	mem_free(text);
}

/* Prints the answers of the examined releases before and after one that was not examined; nothing
 * if the requested text is no version, and so has no place among the releases. */
static int print_beside(struct jw_error *err, const struct cli *cli,
						const struct which_document *document,
						const struct jw_which_options *options)
{
	struct jw_which_options for_all = *options;
	const struct jw_which_release *newer = NULL, *older = NULL;
	struct table table = {.columns = 2};
	struct jw_which which;
	struct pep440 version;
	int result;

	if (!pep440_read(options->version, &version))
		return 0;
	for_all.version = NULL;
	if (jw_which(err, &for_all, &which))
		return -1;
	for (size_t i = 0; i < which.count && !older; i++) {
		const struct jw_which_release *release = &which.releases[i];

		if (release->inferred || release->answer >= JW_WHICH_NO_PYTHON)
			continue;
		if (version_is_newer(release->version, options->version))
			newer = release;
		else
			older = release;
	}
	for (size_t i = 0; i < 2; i++) {
		const struct jw_which_release *release = i ? older : newer;

		if (!release)
			continue;
		table_cell(&table, STYLE_PLAIN, "  %s", release->version);
		print_answer(&table, release, release, release, false);
	}
	if (newer || older)
		print_head(cli, document, &which);
	result = newer || older ? table_print(err, &table, &cli->out) : 0;
	table_free(&table);
	jw_which_free(&which);
	return result;
}

static int refuse_release(struct jw_error *err, const struct cli *cli,
						  const struct which_document *document, const struct wanted *wanted,
						  const struct jw_which *which)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char *text;

	/* Without a version, every file on the index's page belongs to another package. */
	if (!wanted->version)
		return error_set(err, JW_ERR_NOT_FOUND, "%s has no release of %s", document->index,
						 wanted->name);
	if (options_given(&cli->options, "ask"))
		return error_set(err, JW_ERR_NOT_FOUND, "%s has no release %.100s of %s", document->index,
						 wanted->version, wanted->name);
	add_ask_one(&command, cli, wanted);
	text = next_step_take(&command);
	if (!which->count)
		error_set(err, JW_ERR_NOT_FOUND,
				  "jitwarm's list has no release %.100s of %s: “%s” looks for this release",
				  wanted->version, wanted->name, text);
	else
		error_set(err, JW_ERR_NOT_FOUND,
				  "jitwarm has not examined %s %.100s; “%s” examines this release", wanted->name,
				  which->releases->version, text);
	mem_free(text);
	return -1;
}

/* Replaces a package by the one that an extra about CUDA brings, which has the device code: jax and
 * “[cuda13,k8s]” become jax-cuda13-plugin. Other extras bring other packages (torch[opt]). */
static void apply_extras(struct wanted *wanted, const char *extras)
{
	static const char cuda[] = "cuda", digits[] = "0123456789";
	const size_t length = strlen(cuda);
	const char *listed = listed_for(wanted->name), *at = listed ? strstr(listed, cuda) : NULL;

	for (size_t used = 0; at && *extras && *extras != ']'; extras += used) {
		extras += strspn(extras, "[, ");
		used = strcspn(extras, ",] ");
		if (used < length || !text_starts_fold(extras, cuda))
			continue;
		extras += length;
		used = strspn(extras, digits);
		at += length;
		/* jax[cuda] names no version of CUDA. */
		(void)text_format(wanted->name, sizeof wanted->name, "%.*s%.*s%s", (int)(at - listed),
						  listed, (int)(used ? used : strspn(at, digits)), used ? extras : at,
						  at + strspn(at, digits));
		return;
	}
}

/* Copies the extras without blanks. */
static void copy_extras(struct wanted *wanted, const char *extras, size_t length)
{
	size_t size = 0;

	for (size_t i = 0; i < length && size + 1 < sizeof wanted->extras; i++)
		if (extras[i] != ' ')
			wanted->extras[size++] = extras[i];
	wanted->extras[size] = '\0';
}

/* Reads NAME, NAME==VERSION or NAME>=VERSION,<VERSION, with or without extras after the name, or
 * the name of a wheel. */
static int read_wanted(struct jw_error *err, const char *text, struct wanted *ret_wanted)
{
	static const char of_version[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_!";
	const size_t length = strcspn(text, " [(<>=!~;@,+");
	const char *extras = text + length + strspn(text + length, " "), *rest = extras;
	struct wanted wanted = {.typed = text};
	struct wheel_name wheel;

	if (wheel_name_read(os_base_name(text), &wheel)) {
		*ret_wanted = (struct wanted){.typed = text};
		(void)wheel_part_text(ret_wanted->name, sizeof ret_wanted->name, wheel.name);
		(void)package_normalise(ret_wanted->name, strlen(ret_wanted->name), ret_wanted->install);
		ret_wanted->version =
			wheel_part_text(ret_wanted->of_wheel, sizeof ret_wanted->of_wheel, wheel.version);
		return 0;
	}
	if (!package_normalise(text, length, wanted.install))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no package's name", text);
	(void)text_format(wanted.name, sizeof wanted.name, "%.*s", (int)length, text);
	if (*extras == '[' && strchr(extras, ']')) {
		const char *listed = listed_for(wanted.name);

		rest = strchr(extras, ']') + 1;
		copy_extras(&wanted, extras, (size_t)(rest - extras));
		/* jax requires the plugin in its own version; other packages are installed by their names.
		 */
		if (!listed || text_ends(listed, "-plugin"))
			text_append(wanted.install, sizeof wanted.install, "%s", wanted.extras);
		apply_extras(&wanted, extras);
		if (listed && !text_ends(listed, "-plugin"))
			TEXT_COPY(wanted.install, wanted.name);
		rest += strspn(rest, " ");
	}
	if (*rest) {
		const char *version = text_starts(rest, "==") ? rest + 2 + strspn(rest + 2, " ") : "";

		const bool pins = text_is_digit(*version) && !version[strspn(version, of_version)] &&
						  !strpbrk(version, ", ");
		bool valid = false;

		if (!pins && strchr("<>=!~", *rest))
			(void)pep440_fits("0", rest, &valid);
		if (!pins && !valid)
			return error_set(
				err, JW_ERR_USAGE,
				"“%.200s”: which takes NAME, NAME==VERSION or a range such as “%.200s>=2,<2.3”",
				text, wanted.name);
		wanted.version = pins ? version : NULL;
		wanted.range = pins ? NULL : rest;
	}
	*ret_wanted = wanted;
	return 0;
}

/* Refuses names that are none, before any answer, and a version in a word of its own. */
static int check_wanted(struct jw_error *err, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct wanted wanted;

		if (read_wanted(err, names[i], &wanted))
			return -1;
		if (i && text_is_digit(*names[i]) &&
			(strchr(names[i], '.') || !names[i][strspn(names[i], "0123456789")]))
			return error_set(err, JW_ERR_USAGE,
							 "“%.100s”: a version is written as in “%.100s==%.100s”", names[i],
							 names[i - 1], names[i]);
	}
	return 0;
}

static void print_plan(const struct cli *cli, const struct jw_asked_plan *plan, const char *package)
{
	char size[TEXT_SHORT];

	if (!plan->most)
		return;
	if (plan->most_bytes)
		output_note(&cli->out,
					"%s: jitwarm's list lacks %s; downloading up to %s (%s at most) one after the "
					"other, and deleting each one",
					package, TEXT_COUNT(plan->lacking, "release", "releases"),
					TEXT_COUNT(plan->most, "wheel", "wheels"), text_bytes(size, plan->most_bytes));
	else
		output_note(&cli->out,
					"%s: jitwarm's list lacks %s; downloading up to %s (the index does not tell "
					"how large they are) one after the other, and deleting each one",
					package, TEXT_COUNT(plan->lacking, "release", "releases"),
					TEXT_COUNT(plan->most, "wheel", "wheels"));
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

/* Handles --ask: examines the releases of pip's index, as far as the GPUs' answers need them. */
static int ask_index(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
					 struct jw_which_options *options, struct jw_asked **ret_asked)
{
	struct fetching fetching = {.output = &cli->out, .label = options->package};
	const struct jw_ask_options how = {.package = options->package,
									   .platform = options->platform,
									   .python = options->python,
									   .state_dir = cli_state(NULL, cli),
									   .fetch = fetching_options(&fetching),
									   .fetches = begin_fetching,
									   .lacks = warn_of_lack};
	struct jw_asked *asked = NULL;
	struct jw_asked_plan plan;
	int result = jw_asked_open(err, &how, &asked);

	if (!result)
		result = jw_asked_plan(err, asked, options, gpus->targets, gpus->count, &plan);
	if (!result)
		print_plan(cli, &plan, options->package);
	for (size_t i = 0; !result && i < gpus->count; i++) {
		options->target = gpus->targets[i];
		result = jw_asked_examine(err, asked, options);
	}
	fetching_end(&fetching);
	if (result)
		jw_asked_close(asked);
	else
		*ret_asked = asked;
	return result;
}

static int answer_package(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
						  const struct wanted *wanted, struct which_document *document)
{
	const bool asks = options_given(&cli->options, "ask"), text = output_wants_text(&cli->out);
	struct jw_which *answers = &document->answers[document->count];
	const struct jw_which_release *common;
	struct jw_asked *asked = NULL;
	int result = 0;
	struct jw_which_options options = {.package = wanted->name,
									   .version = wanted->version,
									   .range = wanted->range,
									   .extras = wanted->extras,
									   .driver = gpus->driver,
									   .platform = document->platform,
									   .python = document->python};

	document->install = wanted->install;
	if (cli->system)
		options.speed = cli->system->speed;
	if (asks && ask_index(err, cli, gpus, &options, &asked))
		return -1;
	if (!asks)
		asked = jw_asked_kept(&(struct jw_ask_options){.package = wanted->name,
													   .platform = document->platform,
													   .state_dir = cli_state(NULL, cli)});
	options.asked = asked;
	TEXT_COPY(document->asked_index, asked ? jw_asked_index(asked) : "PyPI");
	document->index = document->asked_index;
	for (size_t i = 0; !result && i < gpus->count; i++) {
		struct jw_which *which = &document->answers[document->count];

		options.target = gpus->targets[i];
		result = jw_which(err, &options, which);
		if (result)
			break;
		document->count++;
		/* The list also has versions whose wheels were not examined. */
		if (!which->count ||
			(wanted->version && !asks && which->releases->answer == JW_WHICH_UNKNOWN)) {
			result = wanted->version && !asks ? print_beside(err, cli, document, &options) : 0;
			if (!result && wanted->range)
				result = error_set(err, JW_ERR_NOT_FOUND, "%s has no release of %s%.100s",
								   asked ? document->index : "jitwarm's list", wanted->name,
								   wanted->range);
			else if (!result)
				result = refuse_release(err, cli, document, wanted, which);
			break;
		}
		if (text && wanted->version) {
			struct jw_which_options for_all = options;
			struct jw_which of_all = {.package = NULL};

			for_all.version = NULL;
			result =
				jw_which(err, &for_all, &of_all) || print_which(err, cli, document, which, &of_all)
					? -1
					: 0;
			jw_which_free(&of_all);
		} else if (text) {
			result = print_which(err, cli, document, which, NULL);
		}
	}
	if (!result) {
		if (!asked || asks || !document->from_list)
			document->date = answers->date;
		document->from_list = document->from_list || !asked;
		common = jw_which_common(answers, gpus->count);
		cli_end_with(cli, status_of(answers, gpus->count, common));
		for (size_t i = 0; common && gpus->count > 1 && i < gpus->count; i++)
			answers[i].newest_on_all = common->version;
		if (text && gpus->count > 1 && !wanted->version)
			print_common(cli, document, answers, gpus->count, common);
		if (text && asked && !asks)
			output_line(&cli->out, STYLE_FAINT, "jitwarm asked %s on %s.", document->index,
						answers->date);
		if (text && !strcmp(document->index, "PyPI"))
			print_other_index(cli, answers);
	}
	jw_asked_close(asked);
	return result;
}

/* Answers for all requested packages. Packages of a file (NULL: none) that jitwarm's list lacks are
 * counted. */
static int answer_all(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
					  const char *const *packages, size_t count, const char *file,
					  struct which_document *document)
{
	const bool asks = options_given(&cli->options, "ask");
	struct buf left_out = BUF_MAX(4096);
	size_t unknown = 0;
	int result = 0;

	document->answers = mem_array(count * gpus->count, sizeof *document->answers);
	document->unlisted = mem_array(count, sizeof *document->unlisted);
	for (size_t i = 0; !result && i < count; i++) {
		const size_t answered = document->count;
		struct wanted wanted;
		struct jw_error why;
		bool failed;

		result = read_wanted(err, packages[i], &wanted);
		failed = !result && answer_package(&why, cli, gpus, &wanted, document);
		document->install = NULL;
		if (!failed)
			continue;
		if (why.code == JW_ERR_NOT_FOUND)
			document->unlisted[document->unlisted_count++] = packages[i];
		if (why.code == JW_ERR_NOT_FOUND && document->count == answered && !asks && file) {
			if (unknown++ < MAX_NAMED)
				buf_add(&left_out, "%s%s", left_out.size ? ", " : "", wanted.name);
			continue;
		}
		if (why.code == JW_ERR_NOT_FOUND && document->count == answered && !asks)
			set_unknown(&why, cli, &wanted);
		while (document->count > answered)
			jw_which_free(&document->answers[--document->count]);
		/* The other packages have their answers. */
		if (why.code != JW_ERR_NOT_FOUND || (count == 1 && !file)) {
			result = error_copy(err, &why);
		} else {
			cli_end_with(cli, EXIT_FAILED);
			output_warning(&cli->out, "%s", why.message);
		}
	}
	if (!result && unknown == count && file)
		result =
			error_set(err, JW_ERR_NOT_FOUND, "%s: jitwarm's list has none of these packages", file);
	else if (!result && unknown > MAX_NAMED)
		output_note(&cli->out, "%s and %zu more: not in jitwarm's list, so left out",
					buf_text(&left_out), unknown - MAX_NAMED);
	else if (!result && unknown)
		output_note(&cli->out, "%s: not in jitwarm's list, so left out", buf_text(&left_out));
	buf_free(&left_out);
	return result;
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
									   "all",    "ask",          "json",     NULL};
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

/* Returns whether a word is the name of a list that exists, such as requirements.txt. */
static bool is_list(const char *word)
{
	static const char *const ends[] = {".txt", ".toml", ".lock", ".json"};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (text_ends(word, ends[i]) && os_exists(word))
			return true;
	return false;
}

static int which_run(struct jw_error *err, struct cli *cli)
{
	const struct options *given = &cli->options;
	const char *platform = options_value(given, "platform"),
			   *python = options_value(given, "python");
	struct which_document document = {.index = "PyPI"};
	const char *const *packages = given->operands;
	size_t count = given->operand_count;
	const char *file = options_value(given, "requirements");
	struct jw_which_names names = {.items = NULL};
	struct gpu_targets gpus;
	char active[JW_PYTHON_VERSION], typed[JW_PYTHON_VERSION];
	int result = 0;

	if (python && index_wheel_python(err, python, typed))
		return -1;
	python = python ? typed : NULL;
	if (!file && count == 1 && is_list(*packages)) {
		file = *packages;
		count = 0;
	}
	if (file && count)
		return error_set(err, JW_ERR_USAGE, "-r FILE takes no other names");
	if (!file && !count)
		return error_set(err, JW_ERR_USAGE,
						 "which: name a package, for example “jitwarm which torch”");
	if (check_wanted(err, packages, count) || gpu_targets_read(err, cli, &gpus))
		return -1;
	if (!gpus.count) {
		if (cli_open_asleep(err, cli, NULL, JW_ASK_UNKNOWN) ||
			gpu_targets_add_own(err, &gpus, cli->system))
			return -1;
		if (!gpus.count)
			return refuse_without_gpu(err, cli);
		if (!options_given(given, "driver"))
			gpus.driver = cli->system->driver.version;
	}
	if (gpu_targets_keep_run(err, cli, &gpus))
		return -1;
	if (!python &&
		(!options_given(given, "target") || options_given(given, "ask") || is_active()) &&
		jw_environment_python(active))
		python = active;
	if (options_given(given, "ask"))
		os_catch_interrupts();
	document.platform = platform ? platform : gpus.arm ? "linux-aarch64" : jw_which_own_platform();
	document.python = python;
	document.driver = gpus.driver;
	if (file && jw_which_read_names(err, file, document.platform, python, &names))
		return -1;
	if (file) {
		packages = (const char *const *)names.items;
		count = names.count;
	}
	if (names.left_out)
		output_note(&cli->out,
					"%s: %s left out: options, files, addresses and other lists are not followed",
					file, TEXT_COUNT(names.left_out, "line", "lines"));
	result = answer_all(err, cli, &gpus, packages, count, file, &document);
	if (!result && document.count && output_wants_text(&cli->out) &&
		!options_given(given, "ask")) {
		struct buf command = BUF_MAX(NEXT_STEP_MAX);
		char text[80];
		bool one = false, older = false;

		for (size_t i = 0; i < given->operand_count; i++)
			one = one || strchr(given->operands[i], '=') || text_ends(given->operands[i], ".whl");
		for (size_t i = 0; i < document.count; i++)
			older = older || lacks_examined(&document.answers[i]);
		(void)text_format(text, sizeof text,
						  !document.from_list ? "To ask the index again: "
						  : one   ? "jitwarm's list is of %s. To ask the index: "
						  : older ? "jitwarm's list is of %s. For older and newer releases: "
								  : "jitwarm's list is of %s. For newer releases: ",
						  document.date);
		add_ask(&command, cli, document.answers, file ? document.count : 0);
		next_step(&cli->out, older ? STYLE_PLAIN : STYLE_FAINT, text, &command);
	}
	if (!result)
		result = document_print(&cli->out, &document_which, &document);
	for (size_t i = 0; i < document.count; i++)
		jw_which_free(&document.answers[i]);
	mem_free(document.answers);
	mem_free(document.unlisted);
	jw_which_names_free(&names);
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
	CLI_VALUE("python", "VERSION",
			  "Answer for this version of Python (3.11) instead of the active version",
			  .aliases = {"python-version"}),
	CLI_FLAG("all", "Print every release in a row of its own"),
	CLI_FLAG(
		"ask",
		"Also examine releases that jitwarm's list lacks: download their wheels with pip, from the "
		"index that is set for pip. jitwarm keeps the answers, and deletes the wheels"),
	PROGRESS_OPTION,
	{0}};

const struct cli_command command_which = {
	.name = "which",
	.summary = "Show which releases of a package run on a GPU",
	.usage = "[OPTION]… NAME[==VERSION]…\n[OPTION]… -r FILE",
	.description =
		"Shows which releases of a package run on your GPU, driver and Python, and how to install "
		"the newest one.\n\nFor NAME==VERSION, the answer is for this release; for a range "
		"(NAME>=2,<2.3), for the releases in it. The answers come "
		"from a list of the code in released wheels, so neither a network nor a GPU is "
		"needed.\n\nExit status: 0 if the newest release, or the named one, runs or compiles on all "
		"GPUs, 1 if an older one does, 2 if none does, or the driver does not run a GPU, 3 if "
		"jitwarm has not examined all that may run, or its list lacks a package.",
	.examples = "jitwarm which torch\njitwarm which --target gtx1080 torch\njitwarm which "
				"torch==2.8.0\njitwarm which torch "
				"--ask\n",
	.options = which_options,
	.reads = true,
	.run = which_run,
};
