/* jitwarm which: which release of a package runs on a GPU. */
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "cli/command.h"
#include "cli/constraints.h"
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

/* The values of a row “with” of packages.tsv. */
enum { WITH_SINCE, WITH_EXTRA };
/* The values of a row “device”. */
enum { DEVICE_SOURCES, DEVICE_EXTRA };

/* ---- the document */

#define RELEASE(member, ...) JSON(struct jw_which_release, member, __VA_ARGS__)

static const char *const answer_names[] = {
	[JW_WHICH_RUNS] = "runs",         [JW_WHICH_COMPILES] = "compiles",
	[JW_WHICH_CPU] = "cpu_only",      [JW_WHICH_UNFOLLOWED] = "unfollowed",
	[JW_WHICH_FAILS] = "fails",       [JW_WHICH_NO_PYTHON] = "other_python",
	[JW_WHICH_NO_WHEEL] = "no_wheel", [JW_WHICH_SOURCE] = "source_only",
	[JW_WHICH_UNKNOWN] = "unknown",   NULL,
};

static const struct json_field release_fields[] = {
	RELEASE(version, "the version of the release"),
	RELEASE(
		answer,
		"`runs`: most of its main library runs without compiling; `compiles`: it runs after "
		"compiling; `cpu_only`: it has no code for GPUs and runs on the CPU; `unfollowed`: it has "
		"no code for GPUs itself, and requires packages that the list lacks; `fails`; "
		"`other_python`: its wheels are for other versions of Python; `no_wheel`: it has no wheel "
		"for the platform; `source_only`: the index has only its source code; `unknown`: the list "
		"has nothing of its wheel",
		.names = answer_names),
	RELEASE(why,
			"why the release, or the part `without`, fails; for a release that runs, the "
			"condition; with `other_python`, the versions of Python that the release is for",
			.presence = JSON_UNLESS_NULL),
	RELEASE(library,
			"the largest library that fails, or the library of the part `without`, or the package "
			"`pin`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(lacks, "a library that it needs and that has no machine code for the GPU: `cuBLAS 11`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(newer, "the part that needs a newer driver, if the rest runs: `FlashAttention 2`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(without, "the part that does not run on the GPU, if the rest runs: `torch.linalg`",
			.presence = JSON_UNLESS_NULL),
	JSON_FORMATTED("needs", struct jw_which_release, needs, document_needs,
				   "the first driver with which the release, or what `newer` names, runs",
				   .presence = JSON_IF_SET),
	RELEASE(modules, "modules that a start compiles, at most"),
	JSON_OBJECT_OF("start_seconds", struct jw_which_release, start, &document_span,
				   "the time that the driver takes to compile these modules, on one core"),
	JSON_FORMATTED(
		"loading", struct jw_which_release, loading, document_loading,
		"when a program compiles these modules: `eager` (all at its start), `lazy` (each at its "
		"first use) or `mixed`; absent without modules",
		.presence = JSON_IF_SET),
	RELEASE(
		inferred,
		"the release was not examined: the nearest examined releases, newer and older, have the "
		"same answer"),
	RELEASE(declared_by,
			"with a build that was not looked at: whose build script says for which GPUs it has "
			"machine code, which is all that is known of it: `PyTorch`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(options,
			"what pip needs to install it, as PyPI does not have it: `--index-url ADDRESS`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(file,
			"the examined wheel; with `inferred`, the wheel of the examined release with the same "
			"answer; absent if the release has no wheel for the platform",
			.presence = JSON_UNLESS_NULL),
	RELEASE(
		pin,
		"a package that the release requires and that fails on this GPU, with the version or the "
		"versions that the release allows",
		.presence = JSON_UNLESS_NULL),
	RELEASE(
		beside,
		"more requirements for pip, with a blank between two; without these, pip takes versions "
		"that fail on the GPU",
		.presence = JSON_UNLESS_NULL),
	RELEASE(required,
			"a package that the release requires and that fails on this GPU, and its version; the "
			"release runs without it",
			.presence = JSON_UNLESS_NULL),
	RELEASE(required_why, "why `required` fails", .presence = JSON_UNLESS_NULL),
	JSON_LINES_OF("uses", struct jw_which_release, uses, use_count,
				  "of a release without code for GPUs itself: the packages with such code that it "
				  "requires, with the versions that it allows",
				  .presence = JSON_IF_SET),
	JSON_LINES_OF("unfollowed", struct jw_which_release, unfollowed, unfollowed_count,
				  "of a release without code for GPUs itself: the required packages that the list "
				  "lacks",
				  .presence = JSON_IF_SET),
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
	JSON(struct jw_which, first,
		 "the command to run before `newest` is installed, since pip builds it with the installed "
		 "package, or takes a build of a required package without device code otherwise: `pip "
		 "install torch==2.7.1+cu128 --index-url ADDRESS`",
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

struct which_run {
	struct cli *cli;
	struct gpu_targets gpus;
	const char *file; /* the list of -r, whose packages are in question; or NULL */
	bool asks;        /* --ask */
	const struct wheel_platform *for_platform;
	bool from_list;              /* an answer comes from the program's list */
	const char *const *packages; /* as typed */
	size_t package_count;
	/* The document; this run owns its texts. */
	struct jw_which *answers;
	size_t count;
	char **unlisted; /* the packages without an answer, as typed */
	size_t unlisted_count;
	size_t unread; /* the lines and names for which print_unread was called */
	const char *index, *date, *platform, *python;
};

static const struct json_field which_fields[] = {
	JSON(struct which_run, index,
		 "the index that the answers hold for: `PyPI`; with `--ask`, another one's address without "
		 "`https://`"),
	JSON(struct which_run, date,
		 "the day on which the list of releases was made; with `--ask`: today",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct which_run, platform,
		 "the platform of the wheels: `linux`, `linux-aarch64` or `windows`"),
	JSON(struct which_run, python, "the version of Python", .presence = JSON_UNLESS_NULL),
	JSON_FORMATTED("driver", struct which_run, gpus.driver, document_needs,
				   "the driver in question; missing for the newest one", .presence = JSON_IF_SET),
	JSON_LIST_OF("answers", struct which_run, answers, count,
				 JSON_TABLE(struct jw_which, answer_fields), "an object for each package and GPU"),
	JSON_LINES_OF(
		"unlisted", struct which_run, unlisted, unlisted_count,
		"the packages, and releases, without an answer: the list, or the index, lacks them; with "
		"-r also the lines that jitwarm cannot read: `requirements.txt:3`"),
	{0},
};
const struct json_table document_which = {.schema = "jitwarm.which/1", .fields = which_fields};

/* ---- the rows of an answer */

static enum style style_of(const struct jw_which_release *release)
{
	switch (release->answer) {
	case JW_WHICH_RUNS: return release->without || release->newer ? STYLE_WARN : STYLE_GOOD;
	case JW_WHICH_COMPILES: return STYLE_WARN;
	case JW_WHICH_FAILS: return STYLE_BAD;
	case JW_WHICH_CPU:
	case JW_WHICH_UNFOLLOWED:
	case JW_WHICH_NO_PYTHON:
	case JW_WHICH_NO_WHEEL:
	case JW_WHICH_SOURCE:
	case JW_WHICH_UNKNOWN: break;
	}
	return STYLE_FAINT;
}

/* Releases that follow each other with the same answer. */
struct row {
	const struct jw_which_release *first, *last;
	const struct jw_which_release *least, *most; /* the shortest and the longest start */
	bool pythons;                                /* they are for different Pythons */
	bool unexamined;                             /* releases between them were not examined */
};

static void add_to_row(struct row *row, const struct jw_which_release *release)
{
	if (!row->first)
		*row = (struct row){release, release, release, release, false, false};
	row->last = release;
	row->pythons = row->pythons || (release->answer == JW_WHICH_NO_PYTHON &&
									!text_same(row->first->why, release->why));
	row->least = release->start.high < row->least->start.high ? release : row->least;
	row->most = release->start.high > row->most->start.high ? release : row->most;
}

/* Appends what releases that run do. */
static void add_running(struct buf *text, const struct row *row, bool several)
{
	const struct jw_which_release *release = row->first;
	char span[TEXT_SHORT];

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
	if (jw_which_has_time(release)) {
		(void)text_span(span, row->least->start.high, row->most->start.high);
		buf_add(text, "%s", verdict_separator(text));
		if (release->answer == JW_WHICH_RUNS &&
			verdict_is_lazy(row->most->loading, &row->most->start))
			buf_add(text,
					several ? "compile some kernels when first used, at most %s for all"
							: "compiles some kernels when first used, up to %s for all",
					span);
		else if (release->answer == JW_WHICH_RUNS)
			buf_add(text,
					several ? "compile some kernels when they start, at most %s"
							: "compiles some kernels when it starts, up to %s",
					span);
		else if (verdict_is_lazy(row->most->loading, &row->most->start))
			buf_add(text,
					several ? "compile their kernels when first used, at most %s for all"
							: "compiles its kernels when first used, up to %s for all",
					span);
		else
			buf_add(text,
					several ? "compile their kernels when they start, at most %s"
							: "compiles its kernels when it starts, up to %s",
					span);
	}
	if (release->newer)
		buf_add(text, "; some of it (%s) needs driver %u", release->newer,
				release->needs.release[0]);
}

/* Appends what is said of releases of which nothing runs on the GPU, and nothing fails. */
static void add_others(struct buf *text, const struct row *row, bool several)
{
	const struct jw_which_release *release = row->first;

	if (row->unexamined)
		buf_add(text, "those examined ");
	if (release->answer == JW_WHICH_NO_PYTHON)
		buf_add(text, several ? "need Python %s" : "needs Python %s", release->why);
	else if (release->answer == JW_WHICH_CPU && text_ends(release->file, "-any.whl"))
		buf_add(text, several
						  ? "have no device code of their own: the packages that they import decide"
						  : "has no device code of its own: the packages that it imports decide");
	else if (release->answer == JW_WHICH_CPU)
		buf_add(
			text,
			several
				? "have no device code: they run on the CPU, unless they make code while they run"
				: "has no device code: it runs on the CPU, unless it makes code while it runs");
	else if (release->answer == JW_WHICH_UNFOLLOWED)
		buf_add(text,
				several ? "have no device code of their own" : "has no device code of its own");
	else if (release->answer == JW_WHICH_SOURCE)
		buf_add(text, several ? "are source code alone, which jitwarm does not examine"
							  : "is source code alone, which jitwarm does not examine");
	else if (release->answer == JW_WHICH_NO_WHEEL)
		buf_add(text,
				several ? "have no wheel for this platform" : "has no wheel for this platform");
	else
		buf_add(text, several ? "were not examined" : "was not examined");
}

/* Appends why releases fail. */
static void add_failing(struct buf *text, const struct jw_which_release *release, bool several)
{
	if (release->pin)
		buf_add(text,
				several ? "fail: they require %s, which fails: %s"
						: "fails: it requires %s, which fails: %s",
				several ? release->library : release->pin, release->why);
	else if (release->lacks)
		buf_add(text,
				several ? "fail: they need %s, which has %s" : "fails: it needs %s, which has %s",
				release->lacks, release->why);
	else if (release->needs.cuda)
		buf_add(text, several ? "fail: they need driver %u" : "fails: it needs driver %u",
				release->needs.release[0]);
	else if (release->declared_by)
		buf_add(text,
				several ? "fail: %s, by %s's build script" : "fails: %s, by %s's build script",
				release->why, release->declared_by);
	else
		buf_add(text, several ? "fail: %s" : "fails: %s", release->why);
}

/* Adds the cell with the answer for the releases of a row. */
static void add_answer(struct table *table, const struct row *row)
{
	const struct jw_which_release *release = row->first;
	const bool several = row->last != release;
	struct buf text = BUF_MAX(VERDICT_SENTENCE);

	if (row->pythons)
		buf_add(&text, "need another Python; %s needs %s", release->version, release->why);
	else if (release->answer <= JW_WHICH_COMPILES && release->declared_by)
		buf_add(&text, several ? "run, by %s's build script" : "runs, by %s's build script",
				release->declared_by);
	else if (release->answer <= JW_WHICH_COMPILES)
		add_running(&text, row, several);
	else if (release->answer == JW_WHICH_FAILS)
		add_failing(&text, release, several);
	else
		add_others(&text, row, several);
	table_cell(table, style_of(release), "%s", buf_text(&text));
	buf_free(&text);
}

/* Returns the label of a declared build, “cu126”, which names its place on another index; NULL for
 * a release of the index in question. */
static const char *label_of(const struct jw_which_release *release)
{
	const char *label = release->declared_by ? strchr(release->version, '+') : NULL;

	return label ? label + 1 : NULL;
}

/* Returns whether a release has no row unless all are requested: nothing is known of it though
 * something is known of others, or it has no wheel for the platform though a newer and an older one
 * have. */
static bool has_no_row(const struct jw_which *which, size_t at)
{
	const enum jw_which_answer answer = which->releases[at].answer;
	bool newer = false, older = false, known = false;

	for (size_t i = 0; i < which->count; i++)
		if (!label_of(&which->releases[i]) && which->releases[i].answer != JW_WHICH_NO_WHEEL) {
			known = known || which->releases[i].answer != JW_WHICH_UNKNOWN;
			newer = newer || i < at;
			older = older || i > at;
		}
	return answer == JW_WHICH_UNKNOWN ? known : answer == JW_WHICH_NO_WHEEL && newer && older;
}

static bool has_labels(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (label_of(&which->releases[i]))
			return true;
	return false;
}

/* Returns the length of a version without the label of a declared build. */
static int public_length(const struct jw_which_release *release)
{
	const char *label = label_of(release);

	return (int)(label ? (size_t)(label - 1 - release->version) : strlen(release->version));
}

static bool same_public_version(const struct jw_which_release *a, const struct jw_which_release *b)
{
	return public_length(a) == public_length(b) &&
		   !strncmp(a->version, b->version, (size_t)public_length(a));
}

/* The rows of an answer. */
struct rows {
	struct table table;
	const struct jw_which *which;
	bool each;    /* a row for each release */
	bool indexes; /* the first column names the index, or the label of builds */
	size_t count, left_out;
};

/* Adds the versions of a row, and the release with whose answer one is answered: "2.7.0, as
 * 2.7.1". */
static void add_versions(struct rows *rows, const struct row *row)
{
	const struct jw_which_release *first = row->first, *last = row->last;
	const char *margin = rows->indexes ? "" : "  ";
	struct wheel_name like;
	char version[64];

	if (last != first)
		table_cell(&rows->table, STYLE_PLAIN, "%s%.*s – %.*s", margin, public_length(first),
				   first->version, public_length(last), last->version);
	else if (first->inferred && (rows->each || rows->which->count == 1) &&
			 wheel_name_read(first->file, &like))
		table_cell(&rows->table, STYLE_PLAIN, "%s%s, as %s", margin, first->version,
				   wheel_part_text(version, sizeof version, like.version));
	else
		table_cell(&rows->table, STYLE_PLAIN, "%s%.*s", margin, public_length(first),
				   first->version);
}

/* Adds a row; the first one of a `source` names it. */
static void add_table_row(struct rows *rows, const struct row *row, bool source)
{
	const char *label = label_of(row->first);

	if (!rows->each && rows->count == MAX_ROWS) {
		rows->left_out++;
		return;
	}
	rows->count++;
	if (rows->indexes)
		table_cell(&rows->table, STYLE_PLAIN, "  %s",
				   !source ? ""
				   : label ? label
						   : rows->which->index);
	add_versions(rows, row);
	add_answer(&rows->table, row);
}

/* Adds rows of releases with the same answer, newest first: those with this label, or, if it is
 * NULL, those of the index. Builds that do not run have no row. Notes the versions that run. */
static void add_source(struct rows *rows, const char *label, bool *covered)
{
	const struct jw_which *which = rows->which;
	struct row row = {.first = NULL};
	bool source = true, unknown = false;

	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];

		if (!text_same(label_of(release), label))
			continue;
		for (size_t k = 0; release->answer <= JW_WHICH_COMPILES && k < which->count; k++)
			covered[k] = covered[k] || same_public_version(&which->releases[k], release);
		if (has_no_row(which, i)) {
			unknown = unknown || release->answer == JW_WHICH_UNKNOWN;
			continue;
		}
		if (row.first && !jw_which_same(row.first, release) &&
			(row.first->answer != JW_WHICH_NO_PYTHON || release->answer != JW_WHICH_NO_PYTHON)) {
			add_table_row(rows, &row, source);
			source = false;
			row = (struct row){.first = NULL};
		}
		if (!label || release->answer <= JW_WHICH_COMPILES)
			add_to_row(&row, release);
		row.unexamined = row.unexamined || (unknown && row.last != row.first);
		unknown = false;
	}
	if (row.first)
		add_table_row(rows, &row, source);
}

/* Adds the rows of the builds that run where no row above runs, the newest first. The index is the
 * first or the second one. */
static void add_sources(struct rows *rows)
{
	const struct jw_which *which = rows->which;
	bool *covered = mem_array(which->count, sizeof *covered), index = false;

	for (size_t i = 0; i < which->count; i++) {
		const char *label = label_of(&which->releases[i]);

		if (covered[i] || which->releases[i].answer > JW_WHICH_COMPILES || (!label && index))
			continue;
		add_source(rows, label, covered);
		if (!index && label)
			add_source(rows, NULL, covered);
		index = true;
	}
	if (!index)
		add_source(rows, NULL, covered);
	mem_free(covered);
}

/* Prints "torch from PyPI on NVIDIA GeForce RTX 3070 (sm_86), driver 550.163.01, linux, Python
 * 3.11". */
static void print_head(const struct which_run *run, const struct jw_which *which)
{
	const struct output *out = &run->cli->out;
	const char *title = run->for_platform->title;
	char gpu[GPUS_MARKETED], number[JW_DRIVER_TEXT], python[24] = "",
													 driver[JW_DRIVER_TEXT + 16] = "newest driver";

	(void)gpu_targets_marketed(gpu, out, which->target, run->cli->system);
	if (run->gpus.driver.cuda)
		(void)text_format(driver, sizeof driver, "driver %s",
						  jw_driver_text(number, &run->gpus.driver));
	if (run->python)
		(void)text_format(python, sizeof python, ", Python %s", run->python);
	if (has_labels(which))
		output_line(out, STYLE_STRONG, "%s on %s, %s, %s%s", which->package, gpu, driver, title,
					python);
	else
		output_line(out, STYLE_STRONG, "%s from %s on %s, %s, %s%s", which->package, which->index,
					gpu, driver, title, python);
}

/* Prints the rows of an answer below its head: with `each` one for each release. */
static int print_table(struct jw_error *err, const struct which_run *run,
					   const struct jw_which *which, bool each, bool *ret_left_out)
{
	struct rows rows = {.which = which, .each = each, .indexes = has_labels(which)};
	int result;

	rows.table = (struct table){.columns = rows.indexes ? 3 : 2};
	for (size_t i = 0; each && i < which->count; i++) {
		struct row row = {.first = NULL};

		add_to_row(&row, &which->releases[i]);
		add_table_row(&rows, &row, true);
	}
	if (!each)
		add_sources(&rows);
	print_head(run, which);
	result = table_print(err, &rows.table, &run->cli->out);
	table_free(&rows.table);
	*ret_left_out = rows.left_out;
	return result;
}

/* ---- what is printed below the rows */

/* A package in question. */
struct wanted {
	const char *typed;                  /* with versions and extras */
	char name[PACKAGE_MAX_NAME];        /* as typed, without extras */
	char extras[PACKAGE_MAX_NAME];      /* "[cuda12]", or "" */
	char install[2 * PACKAGE_MAX_NAME]; /* what pip installs: the name as typed with its extras */
	const char *version;                /* of NAME==VERSION and of a wheel's name; else NULL */
	const char *range;                  /* of NAME>=VERSION,<VERSION; else NULL */
	char of_wheel[64];
	const struct package_fact *with; /* the row about the extra that it needs; or NULL */
	struct jw_which_options options; /* its question */
	struct jw_asked *asked;          /* what an index has answered, now or earlier; or NULL */
};

/* Returns what pip installs for a release of a package, with the extra that it needs; the caller
 * frees it. */
static char *install_of(const struct wanted *wanted, const char *version)
{
	const char *install = wanted->install, *const *with =
											   wanted->with ? wanted->with->values : NULL;

	if (!with || version_is_newer(with[WITH_SINCE], version))
		return mem_string(install);
	return mem_printf("%.*s%s%s]", (int)strcspn(install, "]"), install,
					  text_ends(install, "]") ? "," : "[", with[WITH_EXTRA]);
}

/* Returns the command that installs a required package before a release, since pip takes one
 * without device code otherwise; the caller frees it. NULL if no build is known that runs on these
 * GPUs. */
static char *first_install(const struct wanted *wanted, const struct jw_which_release *release,
						   const struct jw_target *targets, size_t count)
{
	const size_t length = strcspn(release->needs_first, "<>=!~ ");
	char *name = mem_string_n(release->needs_first, length), *install = NULL;
	struct jw_which_options question = wanted->options;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	struct jw_which **found = mem_array(count, sizeof *found);
	struct jw_which *answers = mem_array(count, sizeof *answers);
	const struct jw_which_release *runs = NULL;
	size_t known = 0;

	question.package = name;
	question.version = question.extras = question.index = question.list = NULL;
	question.range = release->needs_first[length] ? release->needs_first + length : NULL;
	question.runtimes = release->needs_runtimes;
	for (; known < count; known++) {
		question.target = targets[known];
		if (jw_which(NULL, &question, &found[known]))
			break;
		answers[known] = *found[known];
	}
	if (known == count)
		runs = jw_which_common(answers, count);
	if (runs)
		install = jw_which_install(answers, runs, name);
	while (known)
		jw_result_free(found[--known]);
	mem_free(found);
	mem_free(answers);
	mem_free(name);
	return install;
}

/* Prints for which versions of another package a release has wheels, if pip compiles it for others.
 */
static void print_compiled(const struct output *out, const char *package,
						   const struct jw_which_release *release)
{
	if (release->needs_first && release->options &&
		strstr(release->options, "--no-build-isolation"))
		output_line(out, STYLE_PLAIN,
					"%s has wheels for %s; for other versions, pip compiles it with nvcc.", package,
					release->needs_first);
}

/* Returns whether a required package, “torch>=2.10”, is in question itself. */
static bool is_named(const struct which_run *run, const char *required)
{
	static const char ends[] = "[<>=!~ ;@";
	char wanted[PACKAGE_MAX_NAME], name[PACKAGE_MAX_NAME];

	if (!package_normalise(required, strcspn(required, ends), wanted))
		return false;
	for (size_t i = 0; i < run->package_count; i++)
		if (package_normalise(run->packages[i], strcspn(run->packages[i], ends), name) &&
			!strcmp(name, wanted))
			return true;
	return false;
}

/* Prints the command that installs a release: the named one (`gpus` is 0), or the newest that runs
 * on so many GPUs. */
static void print_install(const struct which_run *run, const struct wanted *wanted,
						  const struct jw_which *which, const struct jw_which_release *release,
						  size_t gpus)
{
	const struct output *out = &run->cli->out;
	const bool compiles = release->answer == JW_WHICH_COMPILES;
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char text[128], *name, *install;

	if (release->needs_first && !is_named(run, release->needs_first)) {
		install = first_install(wanted, release, gpus > 1 ? run->gpus.targets : &which->target,
								gpus > 1 ? gpus : 1);
		if (!install)
			return;
		buf_add(&command, "%s", install);
		mem_free(install);
		next_step(out, STYLE_GOOD, "First: ", &command);
		command = BUF_MAX(NEXT_STEP_MAX);
	}
	if (gpus > 1)
		(void)text_format(text, sizeof text,
						  compiles ? "Newest that runs on all %zu GPUs, after compiling: "
						  : release->without
							  ? "Newest that runs on all %zu GPUs, except for some of it: "
							  : "Newest that runs on all %zu GPUs: ",
						  gpus);
	else
		TEXT_COPY(text, !gpus              ? "To install this release: "
						: compiles         ? "Newest that runs, after compiling: "
						: release->without ? "Newest that runs, except for some of it: "
										   : "Newest that runs: ");
	name = install_of(wanted, release->version);
	install = jw_which_install(which, release, name);
	buf_add(&command, "%s", install);
	mem_free(name);
	mem_free(install);
	next_step(out, STYLE_GOOD, text, &command);
	print_compiled(out, wanted->name, release);
}

/* Returns who declares builds of a package; NULL if nobody does. */
static const char *declared_by(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (which->releases[i].declared_by)
			return which->releases[i].declared_by;
	return NULL;
}

/* Returns the place of a release in the answers for all GPUs, which have the same releases. */
static size_t common_at(const struct which_run *run, const struct jw_which *answers,
						const struct jw_which_release *common)
{
	for (size_t i = 0; i < run->gpus.count; i++)
		if (common >= answers[i].releases && common < answers[i].releases + answers[i].count)
			return (size_t)(common - answers[i].releases);
	return 0;
}

/* Prints the release that all GPUs of the answers for a package run. */
static void print_common(const struct which_run *run, const struct wanted *wanted,
						 const struct jw_which *answers, const struct jw_which_release *common)
{
	struct jw_which_release release;
	struct buf beside = BUF_MAX(NEXT_STEP_MAX);

	for (size_t i = 0; common && i < run->gpus.count; i++) {
		const char *more = answers[i].releases[common_at(run, answers, common)].beside;

		if (more && !strstr(buf_text(&beside), more))
			buf_add(&beside, "%s%s", beside.size ? " " : "", more);
	}
	if (common) {
		release = *common;
		release.beside = beside.size ? mem_string(buf_text(&beside)) : NULL;
		print_install(run, wanted, answers, &release, run->gpus.count);
		mem_free(release.beside);
	} else {
		output_line(&run->cli->out, STYLE_BAD,
					"No release that jitwarm has examined runs on all %zu GPUs.", run->gpus.count);
	}
	buf_free(&beside);
}

static void print_other_index(const struct cli *cli, const struct jw_which *which)
{
	const struct package_fact *fact = package_fact_of("index", which->package);
	char *index = os_env("PIP_INDEX_URL");

	if (index && *index)
		output_line(&cli->out, STYLE_PLAIN,
					"These answers are for PyPI; --ask asks the index in PIP_INDEX_URL, whose "
					"builds may differ.");
	else if (fact && fact->values[ELSEWHERE_PAGE] && !declared_by(which) &&
			 which->advised != which->releases)
		output_line(&cli->out, STYLE_PLAIN,
					"%s's index has other builds of %s: set PIP_INDEX_URL to %s, and use --ask.",
					fact->values[ELSEWHERE_WHOSE], which->package,
					strchr(fact->values[ELSEWHERE_OPTIONS], ' ') + 1);
	mem_free(index);
}

/* Appends “jitwarm which” with the options of the question, without --ask. */
static void add_which(struct buf *command, const struct cli *cli)
{
	static const char *const kept[] = {"target", "driver", "platform", "python", NULL};

	buf_add(command, "jitwarm which");
	next_step_keep(command, &cli->options, kept);
}

/* Appends the command that answers for one package. */
static void add_which_one(struct buf *command, const struct cli *cli, const char *package,
						  bool asks)
{
	add_which(command, cli);
	shell_add_word(command, package);
	if (asks)
		buf_add(command, " --ask");
}

static void print_which_one(const struct cli *cli, const char *text, const char *package, bool asks)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	add_which_one(&command, cli, package, asks);
	next_step(&cli->out, STYLE_PLAIN, text, &command);
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

/* Returns the package that differs from another one only in its version of CUDA, the newest one of
 * which a release runs; NULL if there is none. The caller frees it. */
static char *running_sibling(const struct wanted *wanted, const char *package)
{
	struct jw_which_options question = wanted->options;
	char *sibling, *runs = NULL;

	question.version = question.range = question.index = question.list = NULL;
	for (size_t at = 0; (sibling = jw_which_sibling(package, &at)); mem_free(sibling)) {
		struct jw_which *which;

		question.package = sibling;
		if (jw_which(NULL, &question, &which))
			continue;
		if (which->advised) {
			mem_free(runs);
			runs = mem_string(sibling);
		}
		jw_result_free(which);
	}
	return runs;
}

/* Returns the package that has a package's wheels for Windows, if the question is about Windows; or
 * NULL. */
static const char *name_on_windows(const struct wanted *wanted, const char *package)
{
	const struct package_fact *fact =
		text_same(wanted->options.platform, "windows") ? package_fact_of("windows", package) : NULL;

	return fact ? fact->values[0] : NULL;
}

/* Prints why no release runs: the GPU, or the driver, the Python or the platform. */
static void print_none(const struct which_run *run, const struct jw_which *which)
{
	const struct output *out = &run->cli->out;
	const char *index = which->index, *package = which->package, *python = NULL;
	char driver[JW_DRIVER_TEXT] = "", both[128], platform[64], with[JW_DRIVER_TEXT + 64] = "";
	size_t counts[JW_WHICH_UNKNOWN + 1] = {0};

	for (size_t i = 0; i < which->count; i++) {
		counts[which->releases[i].answer]++;
		if (which->releases[i].answer == JW_WHICH_FAILS && which->releases[i].needs.cuda)
			(void)jw_driver_text(driver, &run->gpus.driver);
	}
	if (counts[JW_WHICH_NO_PYTHON])
		python = run->python;
	if (has_labels(which)) {
		(void)text_format(both, sizeof both, "%s or %s's index", index, declared_by(which));
		index = both;
	}
	TEXT_COPY(platform, run->for_platform->title);
	if (python)
		(void)text_format(platform, sizeof platform, "%s and Python %s", run->for_platform->title,
						  python);
	if (*driver && python)
		(void)text_format(with, sizeof with, " with driver %s and Python %s", driver, python);
	else if (*driver)
		(void)text_format(with, sizeof with, " with driver %s", driver);
	else if (python)
		(void)text_format(with, sizeof with, " with Python %s", python);
	if (which->unexamined)
		print_unexamined(run->cli, which);
	else if (counts[JW_WHICH_SOURCE] &&
			 counts[JW_WHICH_SOURCE] + counts[JW_WHICH_NO_WHEEL] == which->count)
		output_line(out, STYLE_WARN,
					"%s has source code of %s, and no wheel: pip builds one when it installs the "
					"package.",
					index, package);
	else if (counts[JW_WHICH_SOURCE] && (counts[JW_WHICH_FAILS] || !counts[JW_WHICH_CPU]))
		output_line(out, STYLE_BAD,
					"No wheel of %s on %s runs on this GPU; of %s, %s has only the source code.",
					package, index, TEXT_COUNT(counts[JW_WHICH_SOURCE], "release", "releases"),
					index);
	else if (counts[JW_WHICH_NO_WHEEL] == which->count)
		output_line(out, STYLE_BAD, "%s has no wheel of %s for %s.", index, package,
					run->for_platform->title);
	else if (!counts[JW_WHICH_FAILS] && counts[JW_WHICH_CPU])
		output_line(out, STYLE_BAD, "%s has no wheel of %s with device code for %s.", index,
					package, platform);
	else
		output_line(out, STYLE_BAD, "No release on %s runs on this GPU%s.", index, with);
}

/* Returns the release whose requirements are shown: the one that is advised, or else the newest one
 * that requires something. */
static const struct jw_which_release *bare_release(const struct jw_which *which)
{
	if (which->advised)
		return which->advised->use_count ? which->advised : NULL;
	for (size_t i = 0; i < which->count; i++)
		if (which->releases[i].answer != JW_WHICH_CPU &&
			(which->releases[i].use_count || which->releases[i].unfollowed_count))
			return &which->releases[i];
	return NULL;
}

/* Appends the first names of a list: “a, b and c”, or “a, b, c, d, e and 7 more”. */
static void add_names(struct buf *text, char *const *names, size_t count)
{
	const size_t shown = count > MAX_NAMED ? MAX_NAMED : count;

	for (size_t i = 0; i < shown; i++)
		buf_add(text, "%s%.*s",
				!i              ? ""
				: i + 1 < count ? ", "
								: " and ",
				(int)strcspn(names[i], "<>=!~ "), names[i]);
	if (count > shown)
		buf_add(text, " and %zu more", count - shown);
}

/* Prints the answers for the packages with device code that a release without such code requires,
 * and names the packages that were not followed. */
static int print_uses(struct jw_error *err, const struct which_run *run,
					  const struct wanted *wanted, const char *package,
					  const struct jw_which_release *release)
{
	const struct output *out = &run->cli->out;
	struct buf names = BUF_MAX(NEXT_STEP_MAX), others = BUF_MAX(NEXT_STEP_MAX);
	int result = 0;

	add_names(&names, release->uses, release->use_count);
	add_names(&others, release->unfollowed, release->unfollowed_count);
	if (release->use_count)
		output_line(out, STYLE_PLAIN, "%s has no device code of its own; it uses %s.", package,
					buf_text(&names));
	if (release->unfollowed_count && release->answer == JW_WHICH_UNFOLLOWED)
		output_line(
			out, STYLE_PLAIN,
			"It requires packages that jitwarm's list lacks and that may have device code: %s.",
			buf_text(&others));
	else if (release->unfollowed_count)
		output_line(out, STYLE_FAINT, "jitwarm has not looked at what else it requires: %s.",
					buf_text(&others));
	buf_free(&names);
	buf_free(&others);
	for (size_t i = 0; !result && i < release->use_count; i++) {
		struct jw_which_options question = wanted->options;
		const size_t length = strcspn(release->uses[i], "<>=!~ ");
		char *name = mem_string_n(release->uses[i], length);
		struct jw_which *which;
		bool left_out;

		question.package = name;
		question.version = question.extras = question.index = question.list = NULL;
		question.range = release->uses[i][length] ? release->uses[i] + length : NULL;
		result = jw_which(err, &question, &which);
		if (!result) {
			if (which->count)
				result = print_table(err, run, which, false, &left_out);
			jw_result_free(which);
		}
		mem_free(name);
	}
	return result;
}

/* Prints how all of a release runs that needs a newer driver for some of it: a newer driver, or
 * another release. */
static void print_newer(const struct which_run *run, const struct wanted *wanted,
						const struct jw_which *which, const struct jw_which_release *release)
{
	const struct jw_which_release *whole = NULL;
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char text[128], *name, *install;

	for (size_t i = 0; i < which->count && !whole; i++)
		if (which->releases[i].answer == JW_WHICH_RUNS && !which->releases[i].newer &&
			!which->releases[i].without && !which->releases[i].declared_by)
			whole = &which->releases[i];
	if (!whole) {
		output_line(&run->cli->out, STYLE_PLAIN,
					"For all of it: upgrade the driver to %u or newer.", release->needs.release[0]);
		return;
	}
	(void)text_format(text, sizeof text, "For all of it: upgrade the driver to %u or newer, or ",
					  release->needs.release[0]);
	name = install_of(wanted, whole->version);
	install = jw_which_install(which, whole, name);
	buf_add(&command, "%s", install);
	mem_free(name);
	mem_free(install);
	next_step(&run->cli->out, STYLE_PLAIN, text, &command);
}

/* Prints the release for Linux that runs, if none for Windows does. */
static void print_wsl(const struct which_run *run, const struct wanted *wanted,
					  const struct jw_which *which)
{
	struct jw_which_options question = wanted->options;
	struct jw_which *on_linux;
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char *name, *install;

	question.platform = "linux";
	question.index = question.list = NULL;
	question.target = which->target;
	if (strcmp(run->platform, "windows") != 0 || jw_which(NULL, &question, &on_linux))
		return;
	if (on_linux->advised) {
		name = install_of(wanted, on_linux->advised->version);
		install = jw_which_install(on_linux, on_linux->advised, name);
		buf_add(&command, "%s", install);
		next_step(&run->cli->out, STYLE_GOOD, "In WSL 2, as on Linux, it runs: ", &command);
		mem_free(name);
		mem_free(install);
	}
	jw_result_free(on_linux);
}

/* Prints an answer. For one release, its answer is also compared with that of all releases. */
static int print_which(struct jw_error *err, const struct which_run *run,
					   const struct wanted *wanted, const struct jw_which *which)
{
	const struct cli *cli = run->cli;
	const struct jw_which_release *bare = bare_release(which), *shown = which->advised;
	const struct jw_which *from = which;
	const struct package_fact *project = package_fact_of("called", which->package);
	struct jw_which_options for_all = wanted->options;
	struct jw_which *of_all = NULL;
	const char *on_windows = name_on_windows(wanted, which->package);
	char *sibling;
	bool left_out;
	int result;

	for_all.version = NULL;
	if (wanted->version) {
		if (jw_which(err, &for_all, &of_all))
			return -1;
		from = of_all;
		shown = which->releases;
	}
	result = print_table(err, run, which, options_given(&cli->options, "all") || of_all, &left_out);
	if (left_out)
		output_line(&cli->out, STYLE_FAINT, "  older releases: --all");
	if (!result && bare)
		result = print_uses(err, run, wanted, which->package, bare);
	if (!which->advised && bare && bare->answer == JW_WHICH_UNFOLLOWED) {
		print_which_one(cli, "To examine it: ", bare->unfollowed[0], true);
	} else if (!of_all && !which->advised) {
		print_none(run, which);
		sibling = running_sibling(wanted, which->package);
		if (sibling)
			print_which_one(cli, "Built for another CUDA, it runs: ", sibling, false);
		mem_free(sibling);
		if (on_windows)
			print_which_one(cli, "Its package for Windows: ", on_windows,
							!jw_which_lists(on_windows));
		else
			print_wsl(run, wanted, which);
	} else if (of_all && lacks_examined(of_all)) {
		print_unexamined(cli, of_all);
		if (!run->asks)
			print_which_one(cli, "To examine them: ", of_all->package, true);
	}
	if (shown && shown->answer <= JW_WHICH_COMPILES && shown->required)
		output_line(&cli->out, STYLE_PLAIN, "With %s %s, pip installs %s, which fails: %s.",
					which->package, shown->version, shown->required, shown->required_why);
	if (shown && shown->answer <= JW_WHICH_COMPILES && shown->newer)
		print_newer(run, wanted, from, shown);
	/* For one release that runs, no other one is named. */
	if (from->advised && (!of_all || !which->advised))
		print_install(run, wanted, from, from->advised, 1);
	if (!of_all && which->advised && !label_of(which->advised) &&
		which->releases->answer == JW_WHICH_CPU)
		print_wsl(run, wanted, which);
	if (of_all && which->advised &&
		(which->advised->beside || which->advised->options || which->advised->needs_first))
		print_install(run, wanted, which, which->advised, 0);
	if (of_all)
		print_which_one(cli, "Other releases: ", which->package, run->asks);
	else if (project)
		print_which_one(cli, "Newer releases have another name: ", project->values[0], run->asks);
	jw_result_free(of_all);
	return result;
}

/* ---- packages as they are typed */

/* Returns the row of a kind about a package as typed, or NULL. */
static const struct package_fact *row_of(const char *kind, const char *package)
{
	char name[PACKAGE_MAX_NAME];

	return package_normalise(package, strlen(package), name) ? package_fact_of(kind, name) : NULL;
}

/* Returns the packages that have the device code of `package`, or NULL. */
static const char *sources_of(const char *package)
{
	const struct package_fact *fact = row_of("device", package);

	return fact ? fact->values[DEVICE_SOURCES] : NULL;
}

/* Returns the packages that have the device code of the requested release, or NULL: a build with a
 * label, such as jaxlib 0.3.25+cuda11.cudnn82, has its own. */
static const char *sources_of_release(const struct wanted *wanted)
{
	return wanted->version && strchr(wanted->version, '+') ? NULL : sources_of(wanted->name);
}

/* Returns a source's package for the platform, and for the driver: if no release runs, that for
 * another CUDA of which one does. The caller frees it. */
static char *source_here(const struct wanted *wanted, const char *source)
{
	const char *on_windows = name_on_windows(wanted, source);
	struct jw_which_options question = wanted->options;
	struct jw_which *which;
	char *runs = NULL;

	question.package = source;
	question.version = question.range = question.extras = question.index = question.list = NULL;
	if (!on_windows && !jw_which(NULL, &question, &which)) {
		if (!which->advised)
			runs = running_sibling(wanted, source);
		jw_result_free(which);
	}
	return runs ? runs : mem_string(on_windows ? on_windows : source);
}

/* Replaces a package by the one that an extra about CUDA brings, which has the device code: jax and
 * “[cuda13,k8s]” become jax-cuda13-plugin. Other extras bring other packages (torch[opt]). */
static void apply_extras(struct wanted *wanted, const char *extras)
{
	static const char cuda[] = "cuda", digits[] = "0123456789";
	const size_t length = strlen(cuda);
	const struct package_fact *fact = row_of("device", wanted->name);
	const char *listed = fact ? fact->values[0] : NULL, *at = listed ? strstr(listed, cuda) : NULL;

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
		/* “cuda12-local” takes NVIDIA's libraries from the machine. */
		if (package_fact_value(fact, DEVICE_EXTRA))
			(void)text_format(wanted->extras, sizeof wanted->extras, "[%s]",
							  strstr(wanted->extras, "local") ? "" : fact->values[DEVICE_EXTRA]);
		return;
	}
}

/* Reads the extras after a name, “[cuda12, k8s]”, and keeps them without blanks. Returns what is
 * behind them. */
static const char *take_extras(struct wanted *wanted, const char *extras)
{
	const char *listed = sources_of(wanted->name), *end = strchr(extras, ']') + 1;
	const bool plugin = listed && text_ends(listed, "-plugin");
	size_t size = 0;

	for (const char *at = extras; at < end && size + 1 < sizeof wanted->extras; at++)
		if (*at != ' ')
			wanted->extras[size++] = *at;
	/* jax requires the plugin in its own version; other packages are installed by their names. */
	if (!listed || plugin)
		text_append(wanted->install, sizeof wanted->install, "%s", wanted->extras);
	apply_extras(wanted, extras);
	if (listed && !plugin)
		TEXT_COPY(wanted->install, wanted->name);
	return end + strspn(end, " ");
}

/* Adds the extra that a package needs, unless one about GPUs was named: jax becomes jax[cuda12]. */
static void add_extra(struct wanted *wanted)
{
	const char *named = strchr(wanted->install, '[');
	char extras[PACKAGE_MAX_NAME];

	if (named && package_fact_inside("extra", named))
		wanted->with = NULL;
	if (!wanted->with)
		return;
	TEXT_COPY(extras, wanted->extras);
	(void)text_format(wanted->extras, sizeof wanted->extras, "%.*s%s%s]", (int)strcspn(extras, "]"),
					  extras, *extras ? "," : "[", wanted->with->values[WITH_EXTRA]);
	apply_extras(wanted, wanted->with->values[WITH_EXTRA]);
}

/* Reads NAME, NAME==VERSION or NAME>=VERSION,<VERSION, with or without extras after the name, or
 * the name of a wheel. */
static int read_wanted(struct jw_error *err, const char *text, struct wanted *wanted)
{
	static const char of_version[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_!";
	const size_t length = strcspn(text, " [(<>=!~;@,+");
	const char *rest = text + length + strspn(text + length, " "), *version;
	bool pins, valid = false;
	size_t sign;
	struct wheel_name wheel;

	*wanted = (struct wanted){.typed = text};
	if (wheel_name_read(os_base_name(text), &wheel)) {
		(void)wheel_part_text(wanted->name, sizeof wanted->name, wheel.name);
		(void)package_normalise(wanted->name, strlen(wanted->name), wanted->install);
		wanted->version = wheel_part_text(wanted->of_wheel, sizeof wanted->of_wheel, wheel.version);
		return 0;
	}
	if (!strcmp(text, "-"))
		return error_set(err, JW_ERR_USAGE,
						 "“jitwarm which -r -” reads a list from the standard input");
	if (options_refuse_address(err, text))
		return -1;
	if (strchr(text, '/') && strchr(strrchr(text, '/'), ':'))
		return error_set(
			err, JW_ERR_USAGE,
			"“%.200s” is an image of containers: run “jitwarm check” inside the container", text);
	if (!package_normalise(text, length, wanted->install))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no package's name", text);
	(void)text_format(wanted->name, sizeof wanted->name, "%.*s", (int)length, text);
	wanted->with = package_fact_of("with", wanted->install);
	if (*rest == '[' && strchr(rest, ']'))
		rest = take_extras(wanted, rest);
	add_extra(wanted);
	if (!*rest)
		return 0;
	sign = text_starts(rest, "===") ? 3 : text_starts(rest, "==") ? 2 : 0;
	version = sign ? rest + sign + strspn(rest + sign, " ") : "";
	pins = text_is_digit(*version) && !version[strspn(version, of_version)];
	if (!pins && strchr("<>=!~", *rest))
		(void)pep440_fits("0", rest, &valid);
	if (!pins && !valid)
		return error_set(
			err, JW_ERR_USAGE,
			"“%.200s”: which takes NAME, NAME==VERSION or a range such as “%.200s>=2,<2.3”", text,
			wanted->name);
	wanted->version = pins ? version : NULL;
	wanted->range = pins ? NULL : rest;
	return 0;
}

/* Refuses words that name no package, and a version as a word of its own, before the first answer
 * is printed. */
static int check_wanted(struct jw_error *err, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct wanted wanted;

		if (read_wanted(err, names[i], &wanted))
			return -1;
		if (i && !wanted.version && !wanted.range && text_is_digit(*names[i]) &&
			(strchr(names[i], '.') || !names[i][strspn(names[i], "0123456789")]))
			return error_set(err, JW_ERR_USAGE,
							 "“%.100s”: a version is written as in “%.100s==%.100s”", names[i],
							 names[i - 1], names[i]);
	}
	return 0;
}

/* ---- packages and releases without an answer */

/* Sets the error for a package whose device code comes from other packages: “a, b and c”, or
 * “a, b or c” if one of them is enough. */
static int set_sources(struct jw_error *err, const struct cli *cli, const struct wanted *wanted,
					   const char *sources, bool asks)
{
	const char *package = wanted->name;
	static const char ends[] = " |";
	const bool one = strchr(sources, '|');
	struct buf command = BUF_MAX(NEXT_STEP_MAX), names = BUF_MAX(NEXT_STEP_MAX);
	char *text;

	add_which(&command, cli);
	for (const char *at = sources; *at;) {
		const size_t length = strcspn(at, ends);
		char *source = mem_string_n(at, length), *name = source_here(wanted, source);
		const char *next = at + length + strspn(at + length, ends);

		if (at == sources || !one) {
			shell_add_word(&command, name);
			asks = asks || !jw_which_lists(name);
		}
		buf_add(&names, "%s%s", at == sources ? "" : *next ? ", " : one ? " or " : " and ", name);
		mem_free(source);
		mem_free(name);
		at = next;
	}
	if (asks)
		buf_add(&command, " --ask");
	text = next_step_take(&command);
	error_set(err, JW_ERR_NOT_FOUND, "%s: its code for GPUs comes from %s: “%s”", package,
			  buf_text(&names), text);
	mem_free(text);
	buf_free(&names);
	return -1;
}

/* Sets the error for a package that the list lacks. */
static int set_unknown(struct jw_error *err, const struct cli *cli, const struct wanted *wanted)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	const char *package = wanted->name, *sources = sources_of_release(wanted);
	const struct package_fact *elsewhere = row_of("index", package),
							  *project = row_of("called", package);
	char *text, *nearest = project ? NULL : jw_which_nearest(package);
	const char *meant = project ? project->values[0] : nearest;

	if (sources) {
		mem_free(nearest);
		return set_sources(err, cli, wanted, sources, false);
	}
	if (elsewhere) {
		buf_add(&command, "pip install");
		shell_add_word(&command, package);
		buf_add(&command, " %s", elsewhere->values[ELSEWHERE_OPTIONS]);
	} else {
		add_which_one(&command, cli, meant ? meant : wanted->typed,
					  !meant || !jw_which_lists(meant));
	}
	text = next_step_take(&command);
	if (elsewhere)
		error_set(err, JW_ERR_NOT_FOUND,
				  "%s: not in jitwarm's list; the builds for GPUs are on an index of %s: “%s”",
				  package, elsewhere->values[ELSEWHERE_WHOSE], text);
	else if (meant && text_starts(meant, package) && meant[strlen(package)] == '-')
		/* Both may be packages: onnxruntime-gpu, sglang-kernel. */
		error_set(err, JW_ERR_NOT_FOUND,
				  "%s: not in jitwarm's list; did you mean %s? “%s”; --ask looks at releases of %s",
				  package, meant, text, package);
	else if (meant)
		error_set(err, JW_ERR_NOT_FOUND, "%s: not in jitwarm's list; did you mean %s? “%s”",
				  package, meant, text);
	else
		error_set(err, JW_ERR_NOT_FOUND, "%s: not in jitwarm's list; “%s” looks at its releases",
				  package, text);
	mem_free(nearest);
	mem_free(text);
	return -1;
}

/* Prints the answers of the examined releases before and after one that was not examined, for one
 * GPU; nothing if it is not between two, or if the requested text is no version. */
static int print_beside(struct jw_error *err, const struct which_run *run,
						const struct wanted *wanted, struct jw_target target)
{
	struct jw_which_options for_all = wanted->options;
	const struct jw_which_release missing = {.version = (char *)(uintptr_t)wanted->version,
											 .answer = JW_WHICH_UNKNOWN};
	enum { NEWER, MISSING, OLDER, ROWS };
	const struct jw_which_release *rows[ROWS] = {[MISSING] = &missing};
	struct table table = {.columns = 2};
	struct jw_which *which;
	struct pep440 version;
	int result = 0;

	if (!pep440_read(wanted->version, &version))
		return 0;
	for_all.version = NULL;
	for_all.target = target;
	if (jw_which(err, &for_all, &which))
		return -1;
	for (size_t i = 0; i < which->count && !rows[OLDER]; i++) {
		const struct jw_which_release *release = &which->releases[i];

		if (!release->inferred && !release->declared_by && release->answer < JW_WHICH_NO_PYTHON)
			rows[version_is_newer(release->version, wanted->version) ? NEWER : OLDER] = release;
	}
	for (size_t i = 0; rows[NEWER] && rows[OLDER] && i < ROWS; i++) {
		struct row row = {.first = NULL};

		add_to_row(&row, rows[i]);
		table_cell(&table, STYLE_PLAIN, "  %s", rows[i]->version);
		add_answer(&table, &row);
	}
	if (rows[NEWER] && rows[OLDER]) {
		print_head(run, which);
		result = table_print(err, &table, &run->cli->out);
	}
	table_free(&table);
	jw_result_free(which);
	return result;
}

/* Refuses a build with a label that the list lacks: PyPI takes no version with a label. */
static int refuse_label(struct jw_error *err, const struct cli *cli, const struct wanted *wanted)
{
	const char *package = wanted->name, *version = wanted->version;
	const struct package_fact *elsewhere = row_of("index", package);
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char *release, *text;

	if (!elsewhere || !elsewhere->values[ELSEWHERE_PAGE])
		return error_set(err, JW_ERR_NOT_FOUND,
						 "%s %.100s: not in jitwarm's list, and PyPI has no builds with a label",
						 package, version);
	release = mem_printf("%s==%.*s", package, (int)strcspn(version, "+"), version);
	add_which_one(&command, cli, release, false);
	text = next_step_take(&command);
	error_set(err, JW_ERR_NOT_FOUND,
			  "%s %.100s: not in jitwarm's list; builds with a label are on %s's index (%s): “%s” "
			  "shows those that the list has",
			  package, version, elsewhere->values[ELSEWHERE_WHOSE],
			  elsewhere->values[ELSEWHERE_PAGE], text);
	mem_free(text);
	mem_free(release);
	return -1;
}

/* Returns whether a build with a label is requested, which PyPI cannot have. */
static bool wants_label(const struct wanted *wanted)
{
	char *index = os_env("PIP_INDEX_URL");
	const bool wants = wanted->version && strchr(wanted->version, '+') && !(index && *index);

	mem_free(index);
	return wants;
}

/* Appends “--python” with the newest version that a release is for, if --ask would ask for another
 * one. */
static void add_its_python(struct buf *command, const struct which_run *run,
						   const struct wanted *wanted)
{
	struct jw_which_options question = wanted->options;
	char version[JW_PYTHON_VERSION];
	struct jw_which *which;

	if (options_given(&run->cli->options, "python") || !jw_environment_python(version))
		return;
	question.python = version;
	if (jw_which(NULL, &question, &which))
		return;
	if (which->count && which->releases->answer == JW_WHICH_NO_PYTHON && which->releases->why) {
		const char *last = strrchr(which->releases->why, ' ');

		last = last ? last + 1 : which->releases->why;
		if (text_is_digit(*last))
			buf_add(command, " --python %s", last);
	}
	jw_result_free(which);
}

/* Refuses a package of whose requested releases nothing is known. */
static int refuse_release(struct jw_error *err, const struct which_run *run,
						  const struct wanted *wanted, const struct jw_which *which)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char *text;

	if (wanted->range)
		return error_set(err, JW_ERR_NOT_FOUND, "%s has no release of %s%.100s",
						 wanted->asked ? which->index : "jitwarm's list", wanted->name,
						 wanted->range);
	/* Without a version, every file on the index's page belongs to another package. */
	if (!wanted->version)
		return error_set(err, JW_ERR_NOT_FOUND, "%s has no release of %s", which->index,
						 wanted->name);
	if (run->asks)
		return error_set(err, JW_ERR_NOT_FOUND, "%s has no release %.100s of %s", which->index,
						 wanted->version, wanted->name);
	for (size_t i = 0; output_wants_text(&run->cli->out) && i < run->gpus.count; i++)
		if (print_beside(err, run, wanted, run->gpus.targets[i]))
			return -1;
	if (wants_label(wanted))
		return refuse_label(err, run->cli, wanted);
	add_which(&command, run->cli);
	add_its_python(&command, run, wanted);
	shell_add_word(&command, wanted->typed);
	buf_add(&command, " --ask");
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

/* Returns whether the program's list has a package. */
static bool is_listed(const struct which_run *run, const struct wanted *wanted)
{
	struct jw_which_options question = wanted->options;
	struct jw_which *which;

	question.target = run->gpus.targets[0];
	if (jw_which(NULL, &question, &which))
		return false;
	jw_result_free(which);
	return true;
}

/* Examines the releases of pip's index, as far as the GPUs' answers need them. Of a package without
 * wheels there, the program's list may know builds that are elsewhere: then it answers. */
static int ask_index(struct jw_error *err, struct which_run *run, struct wanted *wanted)
{
	struct cli *cli = run->cli;
	const struct gpu_targets *gpus = &run->gpus;
	struct fetching fetching = {.output = &cli->out, .label = wanted->name};
	const struct jw_ask_options how = {.package = wanted->name,
									   .platform = run->platform,
									   .python = run->python,
									   .state_dir = cli_state(NULL, cli),
									   .fetch = fetching_options(&fetching),
									   .fetches = begin_fetching,
									   .lacks = warn_of_lack};
	struct jw_asked_plan plan;
	int result = jw_asked_open(err, &how, &wanted->asked);

	if (result && err->code == JW_ERR_NOT_FOUND && is_listed(run, wanted)) {
		output_warning(&cli->out, "%s", err->message);
		return 0;
	}
	if (!result)
		result =
			jw_asked_plan(err, wanted->asked, &wanted->options, gpus->targets, gpus->count, &plan);
	if (!result)
		print_ask_plan(cli, &plan, wanted->name);
	for (size_t i = 0; !result && i < gpus->count; i++) {
		wanted->options.target = gpus->targets[i];
		result = jw_asked_examine(err, wanted->asked, &wanted->options);
	}
	fetching_end(&fetching);
	return result;
}

/* ---- the command */

/* Returns the newest release of the index, or, if all are builds of another one, of that. */
static const struct jw_which_release *newest_of(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (!label_of(&which->releases[i]))
			return &which->releases[i];
	return which->releases;
}

static bool is_unknown(const struct jw_which *which)
{
	return which->count == 1 && which->releases->answer == JW_WHICH_UNKNOWN;
}

/* Returns 0 if the newest release runs on all GPUs; 1 if an older one, or a build of another index,
 * does; 2 if none does; 3 if jitwarm has not examined all that may run. */
static enum exit_status status_of_answers(const struct jw_which *answers, size_t count,
										  const struct jw_which_release *common)
{
	bool runs = true, unexamined = false;

	for (size_t i = 0; i < count; i++) {
		runs = runs && newest_of(&answers[i])->answer <= JW_WHICH_COMPILES;
		unexamined = unexamined || lacks_examined(&answers[i]) || is_unknown(&answers[i]) ||
					 answers[i].releases->answer == JW_WHICH_UNFOLLOWED;
	}
	return runs ? EXIT_DONE : common ? EXIT_COLD : unexamined ? EXIT_FAILED : EXIT_CANNOT;
}

/* Returns whether the requested release has an answer for another GPU than the first one. */
static bool known_for_another(const struct jw_which_options *options,
							  const struct gpu_targets *gpus)
{
	struct jw_which_options question = *options;
	bool known = false;

	for (size_t i = 1; i < gpus->count && !known; i++) {
		struct jw_which *which;

		question.target = gpus->targets[i];
		if (jw_which(NULL, &question, &which))
			return false;
		known = !is_unknown(which);
		jw_result_free(which);
	}
	return known;
}

/* Answers for one package, on all GPUs; the caller closes what the index has answered. */
static int answer_package(struct jw_error *err, struct which_run *run, struct wanted *wanted)
{
	struct cli *cli = run->cli;
	const struct gpu_targets *gpus = &run->gpus;
	const bool text = output_wants_text(&cli->out);
	struct jw_which *const answers = &run->answers[run->count];
	struct jw_which_options *options = &wanted->options;
	const struct jw_which_release *common;
	const char *sources;

	*options = (struct jw_which_options){.package = wanted->name,
										 .version = wanted->version,
										 .range = wanted->range,
										 .extras = wanted->extras,
										 .driver = gpus->driver,
										 .platform = run->platform,
										 .python = run->python};
	if (cli->system)
		options->speed = cli->system->speed;
	sources = sources_of_release(wanted);
	/* The wheels of keras do not say which package it loads. */
	if (sources && strchr(sources, '|') && !wanted->version && !wanted->range)
		return set_sources(err, cli, wanted, sources, run->asks);
	if (run->asks && ask_index(err, run, wanted))
		return -1;
	if (!run->asks)
		wanted->asked = jw_asked_kept(&(struct jw_ask_options){
			.package = wanted->name, .platform = run->platform, .state_dir = cli_state(NULL, cli)});
	if (wanted->asked) {
		options->index = jw_asked_index(wanted->asked);
		options->list = jw_asked_text(wanted->asked);
	}
	run->index = arena_string(run, options->index ? options->index : "PyPI");
	for (size_t i = 0; i < gpus->count; i++) {
		struct jw_which *which;

		options->target = gpus->targets[i];
		if (jw_which(err, options, &which))
			return -1;
		arena_join(run, which);
		if (which->advised && which->advised->needs_first) {
			char *first = first_install(wanted, which->advised, &which->target, 1);

			which->first = first ? arena_keep(run, first) : NULL;
		}
		run->answers[run->count++] = *which;
		/* The list also has versions whose wheels were not examined. */
		if (!which->count || (wanted->version && !run->asks && is_unknown(which) && !i &&
							  !known_for_another(options, gpus)))
			return refuse_release(err, run, wanted, which);
		if (text && print_which(err, run, wanted, which))
			return -1;
	}
	if (!wanted->asked || run->asks || !run->from_list)
		run->date = answers->date;
	run->from_list = run->from_list || !wanted->asked;
	if (text && sources && !answers->advised) {
		struct jw_error why;

		(void)set_sources(&why, cli, wanted, sources, run->asks);
		output_note(&cli->out, "%s", why.message);
	}
	common = jw_which_common(answers, gpus->count);
	cli_end_with(cli, status_of_answers(answers, gpus->count, common));
	for (size_t i = 0; common && gpus->count > 1 && i < gpus->count; i++)
		answers[i].newest_on_all = common->version;
	if (text && gpus->count > 1 && !wanted->version)
		print_common(run, wanted, answers, common);
	if (text && wanted->asked && !run->asks)
		output_line(&cli->out, STYLE_FAINT, "jitwarm asked %s on %s.", run->index, answers->date);
	if (text && !strcmp(run->index, "PyPI"))
		print_other_index(cli, answers);
	return 0;
}

/* Adds a line or a name that jitwarm cannot read to `unlisted`, ends the command with status 3, and
 * prints why, for the first MAX_NAMED of them. */
static void print_unread(struct which_run *run, const char *what, const char *why)
{
	arena_add_string(run, &run->unlisted, &run->unlisted_count, SIZE_MAX, what);
	cli_end_with(run->cli, EXIT_FAILED);
	if (++run->unread <= MAX_NAMED)
		output_warning(&run->cli->out, "%s", why);
	else if (run->unread == MAX_NAMED + 1)
		output_warning(&run->cli->out,
					   "more lines of %s have no answer; “--json” lists them as “unlisted”",
					   run->file);
}

/* Answers for all requested packages. Packages of a file that jitwarm's list lacks are counted. */
static int answer_all(struct jw_error *err, struct which_run *run, const char *const *packages,
					  size_t count)
{
	const struct output *out = &run->cli->out;
	struct buf left_out = BUF_MAX(4096);
	struct wanted *all = mem_array(count, sizeof *all);
	size_t unknown = 0, known = 0;
	int result = 0;

	run->answers = arena_alloc(run, count * run->gpus.count * sizeof *run->answers);
	run->packages = packages;
	run->package_count = count;
	for (size_t i = 0; !result && i < count; i++) {
		const size_t before = run->count;
		struct wanted *wanted = &all[known];
		struct jw_error why;
		bool lacking, listed;

		if (read_wanted(&why, packages[i], wanted)) {
			print_unread(run, packages[i], why.message);
			continue;
		}
		if (!answer_package(&why, run, wanted)) {
			known++;
			continue;
		}
		jw_asked_close(wanted->asked);
		lacking = why.code == JW_ERR_NOT_FOUND;
		listed = run->asks || run->count > before;
		run->count = before;
		if (lacking)
			arena_add_string(run, &run->unlisted, &run->unlisted_count, SIZE_MAX, packages[i]);
		if (lacking && !listed && !sources_of_release(wanted) && run->file) {
			if (unknown++ < MAX_NAMED)
				buf_add(&left_out, "%s%s", left_out.size ? ", " : "", wanted->name);
			continue;
		}
		if (lacking && !listed && wants_label(wanted))
			refuse_label(&why, run->cli, wanted);
		else if (lacking && !listed)
			set_unknown(&why, run->cli, wanted);
		if (lacking && !listed && run->file) {
			output_note(out, "%s", why.message);
			continue;
		}
		/* The other packages have their answers. */
		if (!lacking || (count == 1 && !run->file)) {
			result = error_copy(err, &why);
		} else {
			cli_end_with(run->cli, EXIT_FAILED);
			output_warning(out, "%s", why.message);
		}
	}
	if (!result && unknown == count && run->file)
		result = error_set(err, JW_ERR_NOT_FOUND, "%s: jitwarm's list has none of these packages",
						   run->file);
	if (!result && unknown > MAX_NAMED)
		buf_add(&left_out, " and %zu more", unknown - MAX_NAMED);
	if (!result && unknown)
		output_note(out, "%s: not in jitwarm's list, so left out; --ask looks at these, too",
					buf_text(&left_out));
	for (size_t i = 0; i < known; i++)
		jw_asked_close(all[i].asked);
	mem_free(all);
	buf_free(&left_out);
	return result;
}

/* Prints the command that looks at releases that the list lacks. */
static void print_ask(const struct which_run *run)
{
	const struct options *given = &run->cli->options;
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char text[80];
	bool one = false, older = false;

	for (size_t i = 0; i < given->operand_count; i++)
		one = one || strchr(given->operands[i], '=') || text_ends(given->operands[i], ".whl");
	for (size_t i = 0; i < run->count; i++)
		older = older || lacks_examined(&run->answers[i]);
	(void)text_format(text, sizeof text,
					  !run->from_list ? "To ask the index again: "
					  : one           ? "jitwarm's list is of %s. To ask the index: "
					  : older         ? "jitwarm's list is of %s. For older and newer releases: "
									  : "jitwarm's list is of %s. For newer releases: ",
					  run->date);
	add_which(&command, run->cli);
	for (size_t i = 0; run->file && i < run->count; i++)
		if (!i || strcmp(run->answers[i].package, run->answers[i - 1].package))
			shell_add_word(&command, run->answers[i].package);
	if (!run->file)
		next_step_names(&command, given);
	buf_add(&command, " --ask");
	next_step(&run->cli->out, older ? STYLE_PLAIN : STYLE_FAINT, text, &command);
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

/* Returns whether a word is the name of a list that exists, such as requirements.txt. */
static bool is_list(const char *word)
{
	static const char *const ends[] = {".txt", ".toml", ".lock", ".json"};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (text_ends(word, ends[i]) && os_exists(word))
			return true;
	return false;
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

/* Answers for the packages, or for those of a list (`file`). */
static int which_packages(struct jw_error *err, struct which_run *run, const char *const *packages,
						  size_t count)
{
	struct cli *cli = run->cli;
	struct jw_which_names *names;

	if (run->file) {
		if (jw_which_read_names(err, run->file, run->platform, run->python, &names))
			return -1;
		arena_join(run, names);
		packages = (const char *const *)names->items;
		count = names->count;
		if (names->left_out)
			output_note(
				&cli->out,
				"%s: %s left out: options, files, addresses and other lists are not followed",
				run->file, TEXT_COUNT(names->left_out, "line", "lines"));
		for (size_t i = 0; i < names->unread_count; i++)
			print_unread(run, names->unread[i],
						 arena_printf(run,
									  "%s: jitwarm cannot read this line; write it as "
									  "“torch==2.7.1” or “torch>=2,<2.3”",
									  names->unread[i]));
	}
	if (answer_all(err, run, packages, count))
		return -1;
	if (run->count && output_wants_text(&cli->out) && !run->asks)
		print_ask(run);
	return document_print(&cli->out, &document_which, run);
}

static int which_run(struct jw_error *err, struct cli *cli)
{
	const struct options *given = &cli->options;
	const char *platform = options_value(given, "platform"),
			   *python = options_value(given, "python");
	size_t count = given->operand_count;
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
	run->file = options_value(given, "requirements");
	if (!run->file && count == 1 && is_list(*given->operands)) {
		run->file = *given->operands;
		count = 0;
	}
	if (run->file && count) {
		error_set(err, JW_ERR_USAGE, "-r FILE takes no other names");
		goto done;
	}
	if (!run->file && !count) {
		error_set(err, JW_ERR_USAGE, "which: name a package, for example “jitwarm which torch”");
		goto done;
	}
	if (check_wanted(err, given->operands, count) || gpus_in_question(err, cli, &run->gpus))
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
	result = which_packages(err, run, given->operands, count);
done:
	jw_result_free(run);
	return result;
}

/* Returns whether a word names a package of which jitwarm knows something. */
static bool knows_package(const char *word)
{
	struct wanted wanted;

	return !read_wanted(NULL, word, &wanted) &&
		   (jw_which_lists(wanted.name) || sources_of(wanted.name) ||
			row_of("called", wanted.name) || row_of("index", wanted.name));
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
			  "Answer for this version of Python (3.11) instead of the active version"),
	CLI_FLAG("all", "Print every release in a row of its own"),
	CONSTRAINTS_OPTIONS,
	CLI_FLAG(
		"ask",
		"Also examine releases that jitwarm's list lacks: download their wheels with pip, from the "
		"index that is set for pip. jitwarm keeps the answers, and deletes the wheels"),
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
		"needed.\n\nExit status: 0 if the newest release, or the named one, runs or compiles on "
		"all "
		"GPUs, 1 if an older one does, 2 if none does, or the driver "
		"does not run a GPU, 3 if "
		"jitwarm has not examined all that may run, or lacks an answer.",
	.examples = "jitwarm which torch\njitwarm which --target gtx1080 torch\njitwarm which "
				"torch==2.8.0\njitwarm which torch "
				"--ask\n",
	.options = which_options,
	.reads = true,
	.knows = knows_package,
	.columns = 100,
	.run = which_run,
};
