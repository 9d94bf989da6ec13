#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/pep440.h"
#include "which/constraints.h"

enum { MAX_TEXT = 1 << 20, MOST_NAMED = 3 };

/* Appends why a release fails. */
static void add_reason(struct buf *text, const struct jw_which_release *release)
{
	if (release->pin)
		buf_add(text, "requires %s, which fails: %s", release->pin, release->why);
	else if (release->lacks)
		buf_add(text, "needs %s, which has %s", release->lacks, release->why);
	else if (release->needs.cuda)
		buf_add(text, "needs driver %u", release->needs.release[0]);
	else
		buf_add(text, "%s", release->why ? release->why : "fails");
}

static void add_clause(struct buf *clauses, const char *sign, const char *version)
{
	buf_add(clauses, "%s%s%s", clauses->size ? "," : "", sign, version);
}

/* Appends the failing releases between the newest and the oldest one that run. */
static void exclude_inner(const struct package *package, size_t newest, size_t oldest,
						  struct buf *clauses, struct buf *reason)
{
	const struct candidate *first = NULL, *last = NULL;
	struct buf names = BUF_MAX(MAX_TEXT);
	size_t count = 0;

	for (size_t i = newest; i < oldest; i++) {
		const struct candidate *item = &package->items[i];

		if (item->state != FAILS)
			continue;
		add_clause(clauses, "!=", item->version);
		buf_add(&names, "%s%s", count++ ? ", " : "", item->version);
		first = first ? first : item;
		last = item;
	}
	if (count)
		buf_add(reason, "%s", reason->size ? "; " : "");
	if (count && count <= MOST_NAMED)
		buf_add(reason, "%s: ", buf_text(&names));
	else if (count)
		buf_add(reason, "%zu from %s to %s: ", count, last->version, first->version);
	if (count)
		add_reason(reason, first->fails);
	buf_free(&names);
}

/* Excludes the failing releases that are older than the oldest one that runs, and all before them,
 * so that no search goes back. */
static void exclude_older(const struct package *package, size_t oldest, struct buf *clauses,
						  struct buf *reason)
{
	const struct candidate *items = package->items;
	size_t at = oldest + 1;
	char clause[128];
	bool valid;

	while (at < package->count && items[at].state != FAILS)
		at++;
	if (at == package->count)
		return;
	/* “>0.19.0” would exclude 0.19.0.post1, too; “>=2.8.0” excludes 2.8.0a0. */
	(void)text_format(clause, sizeof clause, ">%s", items[at].version);
	if (pep440_fits(items[at - 1].version, clause, &valid))
		add_clause(clauses, ">", items[at].version);
	else
		add_clause(clauses, ">=", items[at - 1].version);
	buf_add(reason, "%s%s and older: ", reason->size ? "; " : "", items[at].version);
	add_reason(reason, items[at].fails);
}

/* Excludes the failing releases that are newer than the newest one that runs, and all after them.
 */
static void exclude_newer(const struct package *package, size_t newest, struct buf *clauses,
						  struct buf *reason)
{
	const struct candidate *items = package->items;
	size_t at = newest;

	while (at && items[at - 1].state != FAILS)
		at--;
	if (!at)
		return;
	add_clause(clauses, "<", items[newest - 1].version);
	buf_add(reason, "%s and newer: ", items[newest - 1].version);
	add_reason(reason, items[at - 1].fails);
}

static struct jw_constraint *add_row(struct constraining *work, enum jw_constraint_kind kind,
									 const char *package)
{
	struct jw_constraints *result = work->result;
	struct jw_constraint *row = &result->rows[result->count++];

	*row = (struct jw_constraint){.kind = kind, .package = arena_string(result, package)};
	return row;
}

/* Returns a GPU on which no release of a package runs or is unknown; NULL if there is none. */
static const struct jw_which *none_on(const struct constraining *work,
									  const struct package *package)
{
	for (size_t i = 0; i < work->options->target_count; i++) {
		const struct jw_which *answer = package->answers[i];
		bool allowed = false;

		for (size_t k = 0; k < answer->count; k++)
			allowed =
				allowed || (is_candidate(&answer->releases[k]) && is_allowed(&answer->releases[k]));
		if (!allowed)
			return answer;
	}
	return NULL;
}

static void add_plugin(struct buf *reason, const struct package *package)
{
	buf_add(reason, "; if it were left out, pip would install an older %s, which runs on the CPU",
			package->plugin);
}

/* Adds the row of a package of which no release runs on all GPUs. */
static void add_none(struct constraining *work, const struct package *package)
{
	const struct jw_which *none = none_on(work, package);
	const struct jw_which_release *fails = NULL;
	struct buf reason = BUF_MAX(MAX_TEXT);
	struct jw_constraint *row;
	size_t failing = 0, unknown = 0;

	for (size_t i = 0; i < package->count; i++) {
		failing += package->items[i].state == FAILS;
		unknown += package->items[i].state == UNKNOWN;
		fails = fails ? fails : package->items[i].fails;
	}
	row = add_row(work,
				  package->needed_by ? JW_CONSTRAINT_REQUIRED
				  : !none            ? JW_CONSTRAINT_APART
				  : unknown          ? JW_CONSTRAINT_UNEXAMINED
				  : package->plugin  ? JW_CONSTRAINT_PLUGIN
									 : JW_CONSTRAINT_NONE_RUNS,
				  package->name);
	if (row->kind == JW_CONSTRAINT_UNEXAMINED)
		buf_add(&reason, "of %zu releases, jitwarm has not examined %zu; the others fail: ",
				failing + unknown, unknown);
	else if (row->kind == JW_CONSTRAINT_APART)
		buf_add(&reason, "no release runs on all of the GPUs: ");
	else
		buf_add(&reason, "no release runs: ");
	add_reason(&reason, fails);
	if (row->kind == JW_CONSTRAINT_REQUIRED)
		buf_add(&reason, "; %s requires it, and runs without it", package->needed_by);
	else if (row->kind == JW_CONSTRAINT_PLUGIN)
		add_plugin(&reason, package);
	else if (row->kind == JW_CONSTRAINT_APART)
		row->constraint =
			arena_printf(work->result, "%s==0+jitwarm.no.release.runs.on.all.gpus", package->name);
	else if (row->kind == JW_CONSTRAINT_NONE_RUNS)
		row->constraint = arena_printf(work->result, "%s==0+jitwarm.no.release.runs.on.sm.%u",
									   package->name, none->target.sm);
	row->reason = arena_string(work->result, buf_text(&reason));
	buf_free(&reason);
}

void constrain(struct constraining *work, const struct package *package)
{
	size_t newest = 0, oldest = package->count, failing = 0;
	struct buf clauses = BUF_MAX(MAX_TEXT), reason = BUF_MAX(MAX_TEXT);
	struct jw_constraint *row;
	bool valid;

	for (size_t i = 0; i < package->count; i++)
		failing += package->items[i].state == FAILS;
	while (newest < package->count && package->items[newest].state != RUNS)
		newest++;
	while (oldest && package->items[oldest - 1].state != RUNS)
		oldest--;
	if (!failing)
		return;
	if (newest == package->count) {
		add_none(work, package);
		return;
	}
	exclude_newer(package, newest, &clauses, &reason);
	exclude_older(package, oldest - 1, &clauses, &reason);
	exclude_inner(package, newest, oldest, &clauses, &reason);
	if (clauses.size) {
		const bool needed =
			package->needed && !pep440_fits(package->needed, buf_text(&clauses), &valid);

		row = add_row(work,
					  needed            ? JW_CONSTRAINT_REQUIRED
					  : package->plugin ? JW_CONSTRAINT_PLUGIN
										: JW_CONSTRAINT_LIMITS,
					  package->name);
		if (needed)
			buf_add(&reason, "; %s requires %s, and runs without it", package->needed_by,
					package->needed);
		else if (package->plugin)
			add_plugin(&reason, package);
		else
			row->constraint = arena_printf(work->result, "%s%s", package->name, buf_text(&clauses));
		row->reason = arena_string(work->result, buf_text(&reason));
	}
	buf_free(&clauses);
	buf_free(&reason);
}

void constrain_to_build(struct constraining *work, const struct package *package,
						const struct jw_which_release *build, bool fits)
{
	const char *and = fits ? " and fits this torch" : "";
	struct jw_constraint *row =
		add_row(work, build ? JW_CONSTRAINT_BUILD : JW_CONSTRAINT_NONE_RUNS, package->name);

	row->constraint = arena_printf(work->result, "%s==%s", package->name,
								   build ? build->version : "0+jitwarm.no.build.runs");
	row->reason = arena_printf(
		work->result, build ? "the newest build for %s that runs%s" : "no build for %s runs%s",
		work->result->label, and);
}

void constrain_not(struct constraining *work, enum jw_constraint_kind kind, const char *package)
{
	add_row(work, kind, package)->reason = arena_string(
		work->result, kind == JW_CONSTRAINT_KEPT ? "the installed build must not be replaced"
												 : "not in jitwarm's list");
}
