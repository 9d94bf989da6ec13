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
	RELEASE(
		inferred,
		"the release was not looked at: the nearest newer and older ones that were have the same "
		"answer"),
	RELEASE(declared_by,
			"with a build that was not looked at: whose build script says for which GPUs it has "
			"machine code, which is all that is known of it: `PyTorch`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(options,
			"what pip needs to install it, as PyPI does not have it: `--index-url ADDRESS`",
			.presence = JSON_UNLESS_NULL),
	RELEASE(file,
			"the wheel that was looked at; with `inferred`, the wheel of the release that it is "
			"like; missing if the release has no wheel for the platform",
			.presence = JSON_UNLESS_NULL),
	RELEASE(
		pin,
		"a package that the release requires and that fails on this GPU, with the version or the "
		"versions that the release allows",
		.presence = JSON_UNLESS_NULL),
	RELEASE(beside,
			"requirements for pip beside the release, with a blank between two, because the newest "
			"versions of these packages, which pip takes otherwise, fail on the GPU",
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

/* The requirements that install all packages of a question, for one GPU. */
struct which_together {
	struct jw_target target;
	char **requirements;
	size_t count;
	char *options;
	char *excluding[2];
};

static const struct json_field together_fields[] = {
	JSON_FORMATTED("target", struct which_together, target, document_sm, "the GPU: `sm_86`"),
	JSON_LINES_OF("requirements", struct which_together, requirements, count,
				  "what pip installs so that all packages run and fit together; missing if nothing "
				  "does",
				  .presence = JSON_IF_SET),
	JSON(struct which_together, options,
		 "what pip needs to find them, if they are not on PyPI: `--index-url ADDRESS`",
		 .presence = JSON_UNLESS_NULL),
	JSON_AS("package", struct which_together, excluding[0], "a package that excludes another one",
			.presence = JSON_UNLESS_NULL),
	JSON_AS("excludes", struct which_together, excluding[1],
			"the package that `package` excludes: each one runs, but no releases of both do",
			.presence = JSON_UNLESS_NULL),
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
	struct which_together *together; /* one for each GPU, if there are several packages */
	size_t together_count;
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
	JSON_LIST_OF("together", struct which_document, together, together_count,
				 JSON_TABLE(struct which_together, together_fields),
				 "for several packages, an object for each GPU", .presence = JSON_IF_SET),
	JSON_LINES_OF(
		"unlisted", struct which_document, unlisted, unlisted_count,
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
	case JW_WHICH_UNFOLLOWED:
	case JW_WHICH_NO_PYTHON:
	case JW_WHICH_NO_WHEEL:
	case JW_WHICH_SOURCE:
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

	if (release->declared_by && release->answer <= JW_WHICH_COMPILES) {
		table_cell(table, style,
				   several ? "run, by %s's build script" : "runs, by %s's build script",
				   release->declared_by);
	} else if (release->declared_by && release->answer == JW_WHICH_FAILS && !release->pin &&
			   !release->needs.cuda) {
		table_cell(table, style,
				   several ? "fail: %s, by %s's build script" : "fails: %s, by %s's build script",
				   release->why, release->declared_by);
	} else if (release->answer <= JW_WHICH_COMPILES) {
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
				   several
					   ? "have no device code of their own: the packages that they import decide"
					   : "has no device code of its own: the packages that it imports decide");
	} else if (release->answer == JW_WHICH_CPU) {
		table_cell(
			table, style,
			several
				? "have no device code: they run on the CPU, unless they make code while they run"
				: "has no device code: it runs on the CPU, unless it makes code while it runs");
	} else if (release->answer == JW_WHICH_UNFOLLOWED) {
		table_cell(table, style,
				   several ? "have no device code of their own" : "has no device code of its own");
	} else if (release->answer == JW_WHICH_SOURCE) {
		table_cell(table, style,
				   several ? "are source code alone, which jitwarm does not examine"
						   : "is source code alone, which jitwarm does not examine");
	} else if (release->answer == JW_WHICH_NO_WHEEL) {
		table_cell(table, style,
				   several ? "have no wheel for this platform" : "has no wheel for this platform");
	} else {
		table_cell(table, style,
				   several ? "are not in jitwarm's list" : "is not in jitwarm's list");
	}
	buf_free(&text);
}

/* Returns the label of a declared build, “cu126”, which names its place on another index; NULL for
 * a release of the index in question. */
static const char *label_of(const struct jw_which_release *release)
{
	const char *label = release->declared_by ? strchr(release->version, '+') : NULL;

	return label ? label + 1 : NULL;
}

/* Returns whether anything is known about some release of the index in question. */
static bool is_any_known(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (!label_of(&which->releases[i]) && which->releases[i].answer != JW_WHICH_UNKNOWN &&
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
		if (!label_of(&which->releases[i]) && which->releases[i].answer != JW_WHICH_NO_WHEEL) {
			newer = newer || i < at;
			older = older || i > at;
		}
	return newer && older;
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

static bool is_same_version(const struct jw_which_release *a, const struct jw_which_release *b)
{
	return public_length(a) == public_length(b) &&
		   !strncmp(a->version, b->version, (size_t)public_length(a));
}

/* Rows of a table: those of the releases of an index, or of its builds with one label. */
struct rows {
	struct table *table;
	const struct jw_which *which;
	const char *index; /* its name in the first column; NULL if there is no such column */
	bool each;         /* a row for each release */
	bool pythons;      /* the releases of the next row are for different Pythons */
	size_t count, left_out;
};

/* Adds a release, and the one with whose answer it is answered: "2.7.0, as 2.7.1". */
static void add_version(const struct rows *rows, const struct jw_which_release *release)
{
	const char *margin = rows->index ? "" : "  ";
	struct wheel_name like;
	char version[64];

	if (release->inferred && (rows->each || rows->which->count == 1) &&
		wheel_name_read(release->file, &like))
		table_cell(rows->table, STYLE_PLAIN, "%s%s, as %s", margin, release->version,
				   wheel_part_text(version, sizeof version, like.version));
	else
		table_cell(rows->table, STYLE_PLAIN, "%s%.*s", margin, public_length(release),
				   release->version);
}

/* Adds a row for the releases from `first` to `last`, which have the same answer. */
static void add_row(struct rows *rows, const struct jw_which_release *const ends[4], bool source)
{
	const struct jw_which_release *first = ends[0], *last = ends[1];
	const char *label = label_of(first);

	if (!rows->each && rows->count == MAX_ROWS) {
		rows->left_out++;
		return;
	}
	rows->count++;
	if (rows->index)
		table_cell(rows->table, STYLE_PLAIN, "  %s", source ? (label ? label : rows->index) : "");
	if (last == first)
		add_version(rows, first);
	else
		table_cell(rows->table, STYLE_PLAIN, rows->index ? "%.*s – %.*s" : "  %.*s – %.*s",
				   public_length(first), first->version, public_length(last), last->version);
	if (rows->pythons)
		table_cell(rows->table, STYLE_FAINT, "need another Python; %s needs %s", first->version,
				   first->why);
	else
		print_answer(rows->table, first, ends[2], ends[3], last != first);
}

/* Adds rows of releases with the same answer, newest first: those with this label, or, if it is
 * NULL, those of the index. Builds that do not run have no row. */
static void add_source(struct rows *rows, const char *label)
{
	const struct jw_which *which = rows->which;
	const struct jw_which_release *ends[4] = {NULL}; /* first, last, shortest and longest start */
	bool source = true;

	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];

		if (!text_same(label_of(release), label) || has_no_row(which, i))
			continue;
		if (ends[0] && !jw_which_same(ends[0], release) &&
			(ends[0]->answer != JW_WHICH_NO_PYTHON || release->answer != JW_WHICH_NO_PYTHON)) {
			add_row(rows, ends, source);
			source = false;
			ends[0] = NULL;
		}
		if (label && release->answer > JW_WHICH_COMPILES)
			continue;
		if (!ends[0]) {
			ends[0] = ends[2] = ends[3] = release;
			rows->pythons = false;
		}
		ends[1] = release;
		rows->pythons = rows->pythons || (release->answer == JW_WHICH_NO_PYTHON &&
										  !text_same(ends[0]->why, release->why));
		ends[2] = release->start.high < ends[2]->start.high ? release : ends[2];
		ends[3] = release->start.high > ends[3]->start.high ? release : ends[3];
	}
	if (ends[0])
		add_row(rows, ends, source);
}

/* Notes the versions that run by the rows of a label, or of the index. */
static void cover(const struct jw_which *which, const char *label, bool *covered)
{
	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];

		for (size_t k = 0; release->answer <= JW_WHICH_COMPILES &&
						   text_same(label_of(release), label) && k < which->count;
			 k++)
			covered[k] = covered[k] || is_same_version(&which->releases[k], release);
	}
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
		add_source(rows, label);
		cover(which, label, covered);
		if (!index && label) {
			add_source(rows, NULL);
			cover(which, NULL, covered);
		}
		index = true;
	}
	if (!index)
		add_source(rows, NULL);
	mem_free(covered);
}

/* Adds the rows of an answer: with `each` one for each release. Returns the number of rows that
 * were left out. */
static size_t add_rows(struct table *table, const struct which_document *document,
					   const struct jw_which *which, bool each)
{
	struct rows rows = {.table = table,
						.which = which,
						.index = has_labels(which) ? document->index : NULL,
						.each = each};

	table->columns = rows.index ? 3 : 2;
	for (size_t i = 0; each && i < which->count; i++)
		add_row(&rows,
				(const struct jw_which_release *[4]){&which->releases[i], &which->releases[i],
													 &which->releases[i], &which->releases[i]},
				true);
	if (!each)
		add_sources(&rows);
	return rows.left_out;
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
	if (has_labels(which))
		output_line(
			&cli->out, STYLE_STRONG,
			document->driver.cuda ? "%s on %s, driver %s, %s%s" : "%s on %s, %snewest driver, %s%s",
			which->package, gpu_targets_marketed(gpu, &cli->out, which->target, cli->system),
			document->driver.cuda ? jw_driver_text(driver, &document->driver) : "",
			platform_text(document->platform), python);
	else
		output_line(&cli->out, STYLE_STRONG,
					document->driver.cuda ? "%s from %s on %s, driver %s, %s%s"
										  : "%s from %s on %s, %snewest driver, %s%s",
					which->package, document->index,
					gpu_targets_marketed(gpu, &cli->out, which->target, cli->system),
					document->driver.cuda ? jw_driver_text(driver, &document->driver) : "",
					platform_text(document->platform), python);
}

/* Appends requirements that have a blank between two; NULL has none. */
static void add_words(struct buf *command, const char *words)
{
	for (const char *at = words; at && *at; at += strspn(at, " ")) {
		const size_t length = strcspn(at, " ");
		char *word = mem_string_n(at, length);

		shell_add_word(command, word);
		mem_free(word);
		at += length;
	}
}

/* Prints the command that installs a release: the named one (`gpus` is 0), or the newest that runs
 * on so many GPUs. */
static void print_install(const struct cli *cli, const struct which_document *document,
						  const struct jw_which *which, const struct jw_which_release *release,
						  size_t gpus)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	bool labelled = false;
	char text[128], *requirement;

	for (size_t i = 0; !release->declared_by && i < which->count; i++)
		labelled = labelled || (!which->releases[i].declared_by &&
								version_is_build_of(which->releases[i].version, release->version));
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
						  !gpus ? "To install this release: "
						  : release->answer == JW_WHICH_COMPILES
							  ? "Newest that runs, after compiling: "
						  : release->without ? "Newest that runs, except for some of it: "
											 : "Newest that runs: ");
	for (const char *at = release->beside; at && *at; at += strspn(at, " ")) {
		output_line(&cli->out, STYLE_PLAIN,
					"pip takes the newest %.*s, which fails here; %.*s runs.",
					(int)strcspn(at, "="), at, (int)strcspn(at, " "), at);
		at += strcspn(at, " ");
	}
	requirement = mem_printf(labelled ? "%s===%.*s" : "%s==%.*s", document->install,
							 public_length(release), release->version);
	buf_add(&command, "pip");
	shell_add_word(&command, "install");
	shell_add_word(&command, requirement);
	add_words(&command, release->beside);
	add_words(&command, release->options);
	mem_free(requirement);
	next_step(&cli->out, STYLE_GOOD, text, &command);
}

/* Returns who declares builds of a package; NULL if nobody does. */
static const char *declared_by(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (which->releases[i].declared_by)
			return which->releases[i].declared_by;
	return NULL;
}

/* Prints the release that all GPUs of the answers for a package run, with what it brings along on
 * all of them. */
static int print_common(struct jw_error *err, const struct cli *cli,
						const struct which_document *document,
						const struct jw_which_options *options, const struct gpu_targets *gpus,
						const struct jw_which *answers, const struct jw_which_release *common)
{
	struct jw_which_options on_all = *options;
	struct jw_which_release release;
	struct jw_which which;

	if (common) {
		on_all.version = common->version;
		on_all.range = NULL;
		on_all.target = gpus->targets[0];
		on_all.others = gpus->targets + 1;
		on_all.other_count = gpus->count - 1;
		if (jw_which(err, &on_all, &which))
			return -1;
		release = *common;
		release.beside = which.releases->beside;
		if (which.releases->answer <= JW_WHICH_COMPILES)
			print_install(cli, document, answers, &release, gpus->count);
		else
			common = NULL;
		jw_which_free(&which);
	}
	if (!common)
		output_line(&cli->out, STYLE_BAD,
					"No release that jitwarm has examined runs on all %zu GPUs.", gpus->count);
	return 0;
}

static void print_other_index(const struct cli *cli, const struct jw_which *which)
{
	char *index = os_env("PIP_INDEX_URL");

	if (index && *index)
		output_line(&cli->out, STYLE_PLAIN,
					"These answers are for PyPI. To ask the index in PIP_INDEX_URL, whose builds "
					"may differ, use --ask.");
	else if (package_fact_of("index", which->package) && !declared_by(which))
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
	char driver[JW_DRIVER_TEXT] = "", both[128];
	size_t failing = 0, without_code = 0, without_wheel = 0, sources = 0;

	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];

		failing += release->answer == JW_WHICH_FAILS;
		without_code += release->answer == JW_WHICH_CPU;
		without_wheel += release->answer == JW_WHICH_NO_WHEEL;
		sources += release->answer == JW_WHICH_SOURCE;
		if (release->answer == JW_WHICH_NO_PYTHON)
			python = document->python;
		if (release->answer == JW_WHICH_FAILS && release->needs.cuda)
			(void)jw_driver_text(driver, &document->driver);
	}
	platform = platform_text(document->platform);
	if (has_labels(which)) {
		(void)text_format(both, sizeof both, "%s or %s's index", index, declared_by(which));
		index = both;
	}
	if (which->unexamined)
		print_unexamined(cli, which);
	else if (sources)
		output_line(out, STYLE_BAD,
					"No wheel of %s on %s runs on this GPU; of %s, %s has only the source code.",
					which->package, index, TEXT_COUNT(sources, "release", "releases"), index);
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
static int print_uses(struct jw_error *err, const struct cli *cli,
					  const struct which_document *document, const struct jw_which_options *options,
					  const char *package, const struct jw_which_release *release)
{
	struct which_document own = *document;
	struct buf names = BUF_MAX(NEXT_STEP_MAX), others = BUF_MAX(NEXT_STEP_MAX);
	int result = 0;

	own.index = "PyPI";
	add_names(&names, release->uses, release->use_count);
	add_names(&others, release->unfollowed, release->unfollowed_count);
	if (release->use_count)
		output_line(&cli->out, STYLE_PLAIN, "%s has no device code of its own; it uses %s.",
					package, buf_text(&names));
	if (release->unfollowed_count && release->answer == JW_WHICH_UNFOLLOWED)
		output_line(
			&cli->out, STYLE_PLAIN,
			"It requires packages that jitwarm's list lacks and that may have device code: %s.",
			buf_text(&others));
	else if (release->unfollowed_count)
		output_line(&cli->out, STYLE_FAINT, "jitwarm has not looked at what else it requires: %s.",
					buf_text(&others));
	buf_free(&names);
	buf_free(&others);
	for (size_t i = 0; !result && i < release->use_count; i++) {
		struct jw_which_options question = *options;
		const size_t length = strcspn(release->uses[i], "<>=!~ ");
		char *name = mem_string_n(release->uses[i], length);
		struct table table = {.columns = 2};
		struct jw_which which;

		question.package = name;
		question.version = question.extras = NULL;
		question.range = release->uses[i][length] ? release->uses[i] + length : NULL;
		question.asked = NULL;
		result = jw_which(err, &question, &which);
		if (!result) {
			(void)add_rows(&table, &own, &which, false);
			if (which.count)
				print_head(cli, &own, &which);
			result = table_print(err, &table, &cli->out);
			jw_which_free(&which);
		}
		table_free(&table);
		mem_free(name);
	}
	return result;
}

/* Prints the command that examines the first required package that the list lacks. */
static void print_unfollowed(const struct cli *cli, const struct jw_which_release *release)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	add_which(&command, cli);
	shell_add_word(&command, release->unfollowed[0]);
	buf_add(&command, " --ask");
	next_step(&cli->out, STYLE_PLAIN, "To examine it: ", &command);
}

/* Prints an answer. For one release, `of_all` has the answers for all releases; else it is NULL. */
static int print_which(struct jw_error *err, const struct cli *cli,
					   const struct which_document *document,
					   const struct jw_which_options *options, const struct jw_which *which,
					   const struct jw_which *of_all)
{
	const struct output *out = &cli->out;
	struct table table = {.columns = 2};
	const bool all = options_given(&cli->options, "all");
	const size_t left_out = add_rows(&table, document, which, all || of_all);
	const struct jw_which *from = of_all ? of_all : which;
	const struct jw_which_release *bare = bare_release(which),
								  *shown = of_all ? which->releases : which->advised;
	int result;

	print_head(cli, document, which);
	result = table_print(err, &table, out);
	table_free(&table);
	if (left_out)
		output_line(out, STYLE_FAINT, "  older releases: --all");
	if (!result && bare)
		result = print_uses(err, cli, document, options, which->package, bare);
	if (!which->advised && bare && bare->answer == JW_WHICH_UNFOLLOWED) {
		print_unfollowed(cli, bare);
	} else if (!of_all && !which->advised) {
		print_none(cli, document, which);
	} else if (of_all && lacks_examined(of_all)) {
		print_unexamined(cli, of_all);
		if (!options_given(&cli->options, "ask"))
			print_examine(cli, of_all);
	}
	if (shown && shown->answer <= JW_WHICH_COMPILES && shown->required)
		output_line(out, STYLE_PLAIN, "%s %s requires %s, which fails: %s.", which->package,
					shown->version, shown->required, shown->required_why);
	/* For one release that runs, no other one is named. */
	if (from->advised && (!of_all || !which->advised))
		print_install(cli, document, from, from->advised, 1);
	if (of_all && which->advised && (which->advised->beside || which->advised->options))
		print_install(cli, document, which, which->advised, 0);
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

/* Returns the newest release of the index, or, if all are builds of another one, of that. */
static const struct jw_which_release *newest_of(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (!label_of(&which->releases[i]))
			return &which->releases[i];
	return which->releases;
}

/* Returns 0 if the newest release runs on all GPUs; 1 if an older one, or a build of another index,
 * does; 2 if none does; 3 if jitwarm has not examined all that may run. */
static enum exit_status status_of(const struct jw_which *answers, size_t count,
								  const struct jw_which_release *common)
{
	bool runs = true, unexamined = false;

	for (size_t i = 0; i < count; i++) {
		runs = runs && newest_of(&answers[i])->answer <= JW_WHICH_COMPILES;
		unexamined = unexamined || lacks_examined(&answers[i]) ||
					 answers[i].releases->answer == JW_WHICH_UNFOLLOWED;
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

/* Returns the row about the package of the list that has the device code of `package`, or NULL. */
static const struct package_fact *device_of(const char *package)
{
	const struct package_fact *fact;

	for (size_t at = 0; (fact = package_fact_next("device", &at));)
		if (text_equal_fold(package, fact->name))
			return fact;
	return NULL;
}

static const char *listed_for(const char *package)
{
	const struct package_fact *fact = device_of(package);

	return fact ? fact->values[0] : NULL;
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
	const struct package_fact *elsewhere = package_fact_of("index", package);
	char *text, *nearest = listed ? NULL : jw_which_nearest(package);

	if (elsewhere) {
		buf_add(&command, "pip install");
		shell_add_word(&command, package);
		buf_add(&command, " %s", elsewhere->values[ELSEWHERE_OPTIONS]);
	} else if (listed) {
		add_which(&command, cli);
		shell_add_word(&command, listed);
	} else {
		add_ask_one(&command, cli, wanted);
	}
	text = next_step_take(&command);
	if (elsewhere)
		error_set(err, JW_ERR_NOT_FOUND,
				  "%s: not in jitwarm's list; the builds for GPUs are on an index of %s: “%s”",
				  package, elsewhere->values[ELSEWHERE_WHOSE], text);
	else if (listed)
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

		if (release->inferred || release->declared_by || release->answer >= JW_WHICH_NO_PYTHON)
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
	const struct package_fact *fact = device_of(wanted->name);
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
		if (fact->values[1])
			(void)text_format(wanted->extras, sizeof wanted->extras, "[%s]",
							  strstr(wanted->extras, "local") ? "" : fact->values[1]);
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
		const size_t sign = text_starts(rest, "===") ? 3 : text_starts(rest, "==") ? 2 : 0;
		const char *version = sign ? rest + sign + strspn(rest + sign, " ") : "";
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

/* Answers for one package; the caller closes the index's answers of *ret_options. */
static int answer_package(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
						  const struct wanted *wanted, struct which_document *document,
						  struct jw_which_options *ret_options, struct jw_asked **ret_asked)
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
	options.asked = *ret_asked = asked;
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
		if (!which->count || (wanted->version && !asks && which->count == 1 &&
							  which->releases->answer == JW_WHICH_UNKNOWN)) {
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
			result = jw_which(err, &for_all, &of_all) ||
							 print_which(err, cli, document, &options, which, &of_all)
						 ? -1
						 : 0;
			jw_which_free(&of_all);
		} else if (text) {
			result = print_which(err, cli, document, &options, which, NULL);
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
			result = print_common(err, cli, document, &options, gpus, answers, common);
		if (text && asked && !asks)
			output_line(&cli->out, STYLE_FAINT, "jitwarm asked %s on %s.", document->index,
						answers->date);
		if (text && !strcmp(document->index, "PyPI"))
			print_other_index(cli, answers);
	}
	*ret_options = options;
	return result;
}

/* A package in question with its answers. */
struct answered {
	struct wanted wanted;
	struct jw_which_options options;
	struct jw_asked *asked;
};

/* Returns “torch>=2”, as it was typed. */
static char *text_of(const struct wanted *wanted)
{
	return mem_printf("%s%s%s", wanted->install, wanted->version ? "==" : "",
					  wanted->version ? wanted->version
					  : wanted->range ? wanted->range
									  : "");
}

/* Prints the command that installs all packages, or names two that exclude each other. */
static void print_together(struct cli *cli, const struct which_document *document,
						   const struct which_together *together, const char *file)
{
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char gpu[GPUS_MARKETED], text[GPUS_MARKETED + 32];

	(void)gpu_targets_marketed(gpu, &cli->out, together->target, cli->system);
	if (together->excluding[0]) {
		output_line(&cli->out, STYLE_BAD,
					"%s and %s exclude each other: no releases of both run on %s and fit together.",
					together->excluding[0], together->excluding[1], gpu);
		return;
	}
	if (!together->count)
		return;
	buf_add(&command, "pip install");
	/* A list of pip's has other packages, too. */
	if (file && text_ends(file, ".txt")) {
		buf_add(&command, " -r");
		shell_add_word(&command, file);
	}
	for (size_t i = 0; i < together->count; i++)
		shell_add_word(&command, together->requirements[i]);
	add_words(&command, together->options);
	if (document->together_count > 1)
		(void)text_format(text, sizeof text, "For all of them on %s: ", gpu);
	else
		TEXT_COPY(text, "For all of them: ");
	next_step(&cli->out, STYLE_GOOD, text, &command);
}

static void add_word(struct which_together *together, char *word)
{
	size_t capacity = together->count;

	VEC_GROW(together->requirements, capacity, together->count);
	together->requirements[together->count++] = word;
}

/* Chooses releases of several packages that fit together, for each GPU. */
static int answer_together(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
						   const struct answered *answered, size_t count, const char *file,
						   struct which_document *document)
{
	struct jw_which_options *questions = mem_array(count, sizeof *questions);
	int result = 0;

	document->together = mem_array(gpus->count, sizeof *document->together);
	for (size_t i = 0; !result && i < gpus->count; i++) {
		struct which_together *row = &document->together[i];
		struct jw_together together;

		for (size_t k = 0; k < count; k++) {
			questions[k] = answered[k].options;
			questions[k].target = gpus->targets[i];
		}
		result = jw_which_together(err, questions, count, &together);
		if (result)
			break;
		*row = (struct which_together){.target = gpus->targets[i]};
		document->together_count++;
		for (size_t k = 0; together.found && k < count; k++)
			add_word(row, mem_printf("%s==%s", answered[k].wanted.install, together.versions[k]));
		for (const char *at = together.beside; at && *at; at += strspn(at, " ")) {
			add_word(row, mem_string_n(at, strcspn(at, " ")));
			at += strcspn(at, " ");
		}
		row->options = together.options;
		together.options = NULL;
		for (size_t k = 0; together.exclude && k < 2; k++)
			row->excluding[k] = text_of(&answered[together.excluding[k]].wanted);
		if (together.exclude)
			cli_end_with(cli, EXIT_CANNOT);
		jw_together_free(&together);
	}
	for (size_t i = 0; !result && output_wants_text(&cli->out) && i < gpus->count; i++)
		print_together(cli, document, &document->together[i], file);
	mem_free(questions);
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
	struct answered *all = mem_array(count, sizeof *all);
	size_t unknown = 0, known = 0;
	int result = 0;

	document->answers = mem_array(count * gpus->count, sizeof *document->answers);
	document->unlisted = mem_array(count, sizeof *document->unlisted);
	for (size_t i = 0; !result && i < count; i++) {
		const size_t answered = document->count;
		struct answered *one = &all[known];
		struct jw_error why;
		bool failed;

		*one = (struct answered){.asked = NULL};
		result = read_wanted(err, packages[i], &one->wanted);
		failed = !result && answer_package(&why, cli, gpus, &one->wanted, document, &one->options,
										   &one->asked);
		document->install = NULL;
		if (!failed) {
			known += !result;
			continue;
		}
		jw_asked_close(one->asked);
		one->asked = NULL;
		if (why.code == JW_ERR_NOT_FOUND)
			document->unlisted[document->unlisted_count++] = packages[i];
		if (why.code == JW_ERR_NOT_FOUND && document->count == answered && !asks && file) {
			if (unknown++ < MAX_NAMED)
				buf_add(&left_out, "%s%s", left_out.size ? ", " : "", one->wanted.name);
			continue;
		}
		if (why.code == JW_ERR_NOT_FOUND && document->count == answered && !asks)
			set_unknown(&why, cli, &one->wanted);
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
		output_note(
			&cli->out,
			"%s and %zu more: not in jitwarm's list, so left out; --ask looks at these, too",
			buf_text(&left_out), unknown - MAX_NAMED);
	else if (!result && unknown)
		output_note(&cli->out, "%s: not in jitwarm's list, so left out; --ask looks at these, too",
					buf_text(&left_out));
	if (!result && known > 1)
		result = answer_together(err, cli, gpus, all, known, file, document);
	for (size_t i = 0; i < known; i++)
		jw_asked_close(all[i].asked);
	mem_free(all);
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
	if (!result && document.count && output_wants_text(&cli->out) && !options_given(given, "ask")) {
		struct buf command = BUF_MAX(NEXT_STEP_MAX);
		char text[80];
		bool one = false, older = false;

		for (size_t i = 0; i < given->operand_count; i++)
			one = one || strchr(given->operands[i], '=') || text_ends(given->operands[i], ".whl");
		for (size_t i = 0; i < document.count; i++)
			older = older || lacks_examined(&document.answers[i]);
		(void)text_format(text, sizeof text,
						  !document.from_list ? "To ask the index again: "
						  : one               ? "jitwarm's list is of %s. To ask the index: "
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
	for (size_t i = 0; i < document.together_count; i++) {
		for (size_t k = 0; k < document.together[i].count; k++)
			mem_free(document.together[i].requirements[k]);
		mem_free(document.together[i].requirements);
		mem_free(document.together[i].options);
		mem_free(document.together[i].excluding[0]);
		mem_free(document.together[i].excluding[1]);
	}
	mem_free(document.together);
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
		"needed.\n\nExit status: 0 if the newest release, or the named one, runs or compiles on "
		"all "
		"GPUs, 1 if an older one does, 2 if none does, or the driver "
		"does not run a GPU, 3 if "
		"jitwarm has not examined all that may run, or its list lacks a package.",
	.examples = "jitwarm which torch\njitwarm which --target gtx1080 torch\njitwarm which "
				"torch==2.8.0\njitwarm which torch "
				"--ask\n",
	.options = which_options,
	.reads = true,
	.run = which_run,
};
