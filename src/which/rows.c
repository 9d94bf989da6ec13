#include <string.h>

#include "base/arena.h"
#include "base/wheel_name.h"
#include "which/advise.h"

enum { MAX_SAYS = 1 << 12 };

/* Releases that follow each other with the same answer. */
struct row {
	const struct jw_which_release *first, *last;
	const struct jw_which_release *most; /* the longest start */
	bool pythons;                        /* they are for different Pythons */
	bool unexamined;                     /* releases between them were not examined */
};

static void add_to_row(struct row *row, const struct jw_which_release *release)
{
	if (!row->first)
		*row = (struct row){release, release, release, false, false};
	row->last = release;
	row->pythons = row->pythons || (release->answer == JW_WHICH_NO_PYTHON &&
									!text_same(row->first->why, release->why));
	row->most = release->start.high > row->most->start.high ? release : row->most;
}

/* ---- what releases do, in words */

/* Appends what releases that run compile, and how long it takes: if their main library has machine
 * code, a program may never need it, so the time is only for `timed`. */
static void add_compiling(struct buf *text, const struct row *row, bool several, bool timed)
{
	const struct jw_which_release *most = row->most;
	const bool lazy = most->loading == JW_LOADING_LAZY ||
					  (most->loading == JW_LOADING_MIXED && jw_may_need_none(&most->start));
	char span[TEXT_SHORT];

	buf_add(text, "%s", text->size ? "; " : "");
	(void)text_span(span, 0, most->start.high);
	if (row->first->answer == JW_WHICH_RUNS) {
		buf_add(text, lazy      ? "may compile some kernels when they are first used"
					  : several ? "may compile some kernels when they start"
								: "may compile some kernels when it starts");
		if (timed)
			buf_add(text, lazy ? ", %s for all" : ", %s", span);
	} else if (lazy) {
		buf_add(text,
				several ? "compile their kernels when first used, %s for all"
						: "compiles its kernels when first used, %s for all",
				span);
	} else {
		buf_add(text,
				several ? "compile their kernels when they start, %s"
						: "compiles its kernels when it starts, %s",
				span);
	}
}

/* Appends what releases that run do. */
static void add_running(struct buf *text, const struct row *row, bool several, bool timed)
{
	const struct jw_which_release *release = row->first;

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
	if (jw_which_has_time(release))
		add_compiling(text, row, several, timed);
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
		buf_add(text, several ? "are only source code, which jitwarm does not examine"
							  : "is only source code, which jitwarm does not examine");
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
				several ? "fail: %s, according to %s's build script"
						: "fails: %s, according to %s's build script",
				release->why, release->declared_by);
	else
		buf_add(text, several ? "fail: %s" : "fails: %s", release->why);
}

static void add_says(struct buf *text, const struct row *row, bool timed)
{
	const struct jw_which_release *release = row->first;
	const bool several = row->last != release;

	if (row->pythons)
		buf_add(text, "need another Python; %s needs %s", release->version, release->why);
	else if (release->answer <= JW_WHICH_COMPILES && release->declared_by)
		buf_add(text,
				several ? "run, according to %s's build script"
						: "runs, according to %s's build script",
				release->declared_by);
	else if (release->answer <= JW_WHICH_COMPILES)
		add_running(text, row, several, timed);
	else if (release->answer == JW_WHICH_FAILS)
		add_failing(text, release, several);
	else
		add_others(text, row, several);
}

void release_says(struct buf *text, const struct jw_which_release *release, bool timed)
{
	struct row row = {.first = NULL};

	add_to_row(&row, release);
	add_says(text, &row, timed);
}

/* ---- labels */

const char *release_label(const struct jw_which_release *release)
{
	const char *label = release->declared_by ? strchr(release->version, '+') : NULL;

	return label ? label + 1 : NULL;
}

bool which_has_labels(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (release_label(&which->releases[i]))
			return true;
	return false;
}

/* Returns the length of a version without the label of a declared build. */
static int public_length(const struct jw_which_release *release)
{
	const char *label = release_label(release);

	return (int)(label ? (size_t)(label - 1 - release->version) : strlen(release->version));
}

static bool same_public_version(const struct jw_which_release *a, const struct jw_which_release *b)
{
	return public_length(a) == public_length(b) &&
		   !strncmp(a->version, b->version, (size_t)public_length(a));
}

/* ---- rows */

/* The rows of an advice, while they are made. */
struct rows {
	struct jw_which_advice *advice;
	const struct jw_which *which;
	size_t capacity;
	bool each;  /* a row for each release */
	bool timed; /* as for release_says */
};

/* Returns the versions of a row, and the release with whose answer one is answered: "2.7.0, as
 * 2.7.1". */
static char *versions_of(const struct rows *rows, const struct row *row)
{
	const struct jw_which_release *first = row->first, *last = row->last;
	struct wheel_name like;
	char version[64];

	if (last != first)
		return arena_printf(rows->advice->owner, "%.*s – %.*s", public_length(first),
							first->version, public_length(last), last->version);
	if (first->inferred && (rows->each || rows->which->count == 1) &&
		wheel_name_read(first->file, &like))
		return arena_printf(rows->advice->owner, "%s, as %s", first->version,
							wheel_part_text(version, sizeof version, like.version));
	return arena_printf(rows->advice->owner, "%.*s", public_length(first), first->version);
}

/* Adds a row; the first one of a `source` names it. */
static void add_row(struct rows *rows, const struct row *row, bool source)
{
	struct jw_which_advice *advice = rows->advice;
	const char *label = release_label(row->first);
	struct buf says = BUF_MAX(MAX_SAYS);

	if (!rows->each && advice->row_count == JW_WHICH_ROWS) {
		advice->left_out++;
		return;
	}
	add_says(&says, row, rows->timed);
	(void)ARENA_ROOM(NULL, advice->owner, advice->rows, rows->capacity, advice->row_count,
					 SIZE_MAX);
	advice->rows[advice->row_count++] =
		(struct jw_which_row){.index = arena_string(advice->owner, !source ? ""
																   : label ? label
																		   : rows->which->index),
							  .versions = versions_of(rows, row),
							  .says = arena_string(advice->owner, buf_text(&says)),
							  .answer = row->first->answer,
							  .partly = row->first->without || row->first->newer};
	buf_free(&says);
}

/* Returns whether a release has no row unless all are requested: nothing is known of it though
 * something is known of others, or it has no wheel for the platform though a newer and an older one
 * have. */
static bool has_no_row(const struct jw_which *which, size_t at)
{
	const enum jw_which_answer answer = which->releases[at].answer;
	bool newer = false, older = false, known = false;

	for (size_t i = 0; i < which->count; i++)
		if (!release_label(&which->releases[i]) && which->releases[i].answer != JW_WHICH_NO_WHEEL) {
			known = known || which->releases[i].answer != JW_WHICH_UNKNOWN;
			newer = newer || i < at;
			older = older || i > at;
		}
	return answer == JW_WHICH_UNKNOWN ? known : answer == JW_WHICH_NO_WHEEL && newer && older;
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

		if (!text_same(release_label(release), label))
			continue;
		for (size_t k = 0; release->answer <= JW_WHICH_COMPILES && k < which->count; k++)
			covered[k] = covered[k] || same_public_version(&which->releases[k], release);
		if (has_no_row(which, i)) {
			unknown = unknown || release->answer == JW_WHICH_UNKNOWN;
			continue;
		}
		if (row.first && !jw_which_same(row.first, release) &&
			(row.first->answer != JW_WHICH_NO_PYTHON || release->answer != JW_WHICH_NO_PYTHON)) {
			add_row(rows, &row, source);
			source = false;
			row = (struct row){.first = NULL};
		}
		if (!label || release->answer <= JW_WHICH_COMPILES)
			add_to_row(&row, release);
		row.unexamined = row.unexamined || (unknown && row.last != row.first);
		unknown = false;
	}
	if (row.first)
		add_row(rows, &row, source);
}

void advice_add_rows(struct jw_which_advice *advice, bool each, bool timed)
{
	const struct jw_which *which = advice->answer;
	struct rows rows = {.advice = advice, .which = which, .each = each, .timed = timed};
	bool *covered = mem_array(which->count + 1, sizeof *covered), index = false;

	for (size_t i = 0; each && i < which->count; i++) {
		struct row row = {.first = NULL};

		add_to_row(&row, &which->releases[i]);
		add_row(&rows, &row, true);
	}
	/* Builds that run where no row above runs come first, the newest ones before others. The index
	 * is the first or the second source. */
	for (size_t i = 0; !each && i < which->count; i++) {
		const char *label = release_label(&which->releases[i]);

		if (covered[i] || which->releases[i].answer > JW_WHICH_COMPILES || (!label && index))
			continue;
		add_source(&rows, label, covered);
		if (!index && label)
			add_source(&rows, NULL, covered);
		index = true;
	}
	if (!each && !index)
		add_source(&rows, NULL, covered);
	mem_free(covered);
}

void advice_add_row(struct jw_which_advice *advice, const struct jw_which_release *release)
{
	struct rows rows = {
		.advice = advice, .which = advice->answer, .capacity = advice->row_count, .each = true};
	struct row row = {.first = NULL};

	add_to_row(&row, release);
	add_row(&rows, &row, true);
}
