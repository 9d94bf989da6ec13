/* The line about a package, by what its releases do: versions as pip compares them. */
#include "check.h"

#include "base/arena.h"
#include "base/pep440.h"
#include "which/constraints.h"

enum { MOST = 8 };

/* A letter for each release: R runs, F fails, ? was not examined. */
struct row_case {
	const char *letters, *versions[MOST], *constraint, *reason;
	enum jw_constraint_kind kind;
	const char *plugin, *needed_by, *needed;
};

static enum jw_which_answer answer_of(char letter)
{
	return letter == 'R' ? JW_WHICH_RUNS : letter == 'F' ? JW_WHICH_FAILS : JW_WHICH_UNKNOWN;
}

/* Returns the rows for one package on one GPU. */
static struct jw_constraints *rows_of(const struct row_case *one)
{
	const struct jw_target target = {.sm = 61};
	const struct jw_constraints_options options = {.targets = &target, .target_count = 1};
	struct jw_constraints *result = arena_open(sizeof *result);
	struct jw_which which = {.target = target, .count = strlen(one->letters)}, *answers = &which;
	struct candidate items[MOST];
	struct package package = {.name = "a",
							  .answers = &answers,
							  .items = items,
							  .count = which.count,
							  .plugin = one->plugin,
							  .needed_by = one->needed_by,
							  .needed = arena_string(result, one->needed)};
	struct constraining work = {.options = &options, .result = result};

	result->rows = arena_alloc(result, sizeof *result->rows);
	which.releases = arena_alloc(result, which.count * sizeof *which.releases);
	for (size_t i = 0; i < which.count; i++) {
		which.releases[i] =
			(struct jw_which_release){.version = arena_string(result, one->versions[i]),
									  .answer = answer_of(one->letters[i]),
									  .why = arena_string(result, "why")};
		items[i] = (struct candidate){.version = one->versions[i],
									  .state = one->letters[i] == 'R'   ? RUNS
											   : one->letters[i] == 'F' ? FAILS
																		: UNKNOWN,
									  .fails = one->letters[i] == 'F' ? &which.releases[i] : NULL};
	}
	constrain(&work, &package);
	return result;
}

TEST(rows_of_packages)
{
	static const struct row_case cases[] = {
		{"FFR",
		 {"3", "2.8.0", "2.7.1"},
		 "a<2.8.0",
		 "2.8.0 and newer: why",
		 .kind = JW_CONSTRAINT_LIMITS},
		/* The unexamined ones stay outside: the newest one that is known to run decides. */
		{"F?R", {"3", "2", "1"}, "a<2", "2 and newer: why", .kind = JW_CONSTRAINT_LIMITS},
		{"?FR", {"3", "2", "1"}, "a<2", "2 and newer: why", .kind = JW_CONSTRAINT_LIMITS},
		{"RFR", {"3", "2", "1"}, "a!=2", "2: why", .kind = JW_CONSTRAINT_LIMITS},
		{"RFF", {"3", "2", "1"}, "a>2", "2 and older: why", .kind = JW_CONSTRAINT_LIMITS},
		{"R?F?", {"4", "3", "2", "1"}, "a>2", "2 and older: why", .kind = JW_CONSTRAINT_LIMITS},
		/* “>2” refuses 2.post1, too. */
		{"RRF",
		 {"3", "2.post1", "2"},
		 "a>=2.post1",
		 "2 and older: why",
		 .kind = JW_CONSTRAINT_LIMITS},
		{"FRF",
		 {"2.post1", "2", "1"},
		 "a<2.post1,>1",
		 "2.post1 and newer: why; 1 and older: why",
		 .kind = JW_CONSTRAINT_LIMITS},
		{"FRFRF",
		 {"5", "4", "3", "2", "1"},
		 "a<5,>1,!=3",
		 "5 and newer: why; 1 and older: why; 3: why",
		 .kind = JW_CONSTRAINT_LIMITS},
		{"RFFFFR",
		 {"6", "5", "4", "3", "2", "1"},
		 "a!=5,!=4,!=3,!=2",
		 "4 from 2 to 5: why",
		 .kind = JW_CONSTRAINT_LIMITS},
		{"FF",
		 {"2", "1"},
		 "a==0+jitwarm.no.release.runs.on.sm.61",
		 "no release runs: why",
		 .kind = JW_CONSTRAINT_NONE_RUNS},
		{"F?",
		 {"2", "1"},
		 NULL,
		 "of 2 releases, jitwarm has not examined 1; the others fail: why",
		 .kind = JW_CONSTRAINT_UNEXAMINED},
		{"F",
		 {"1"},
		 NULL,
		 "no release runs: why; b requires it, and runs without it",
		 .kind = JW_CONSTRAINT_REQUIRED,
		 .needed_by = "b"},
		{"FR",
		 {"2", "1"},
		 NULL,
		 "2 and newer: why; b requires 2, and runs without it",
		 .kind = JW_CONSTRAINT_REQUIRED,
		 .needed_by = "b",
		 .needed = "2"},
		{"FR",
		 {"2", "1"},
		 "a<2",
		 "2 and newer: why",
		 .kind = JW_CONSTRAINT_LIMITS,
		 .needed_by = "b",
		 .needed = "1"},
		{"FR",
		 {"2", "1"},
		 "a<2",
		 "2 and newer: why",
		 .kind = JW_CONSTRAINT_LIMITS,
		 .needed_by = "b"},
		{"F",
		 {"1"},
		 NULL,
		 "no release runs: why; if it were left out, pip would install an older b[c], which runs "
		 "on the CPU",
		 .kind = JW_CONSTRAINT_PLUGIN,
		 .plugin = "b[c]"},
		{"RR", {"2", "1"}, .reason = NULL},
		{"R?", {"2", "1"}, .reason = NULL},
		{"??", {"2", "1"}, .reason = NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct row_case *one = &cases[i];
		struct jw_constraints *result = rows_of(one);
		const struct jw_constraint *row = result->rows;
		bool valid;

		assert_int_equal(result->count, one->reason != NULL);
		if (one->reason) {
			assert_int_equal(row->kind, one->kind);
			assert_string_equal(row->reason, one->reason);
			assert_string_equal(row->constraint ? row->constraint : "",
								one->constraint ? one->constraint : "");
		}
		/* Each release that runs is allowed, and each that fails is refused. */
		for (size_t k = 0; result->count && row->constraint && one->letters[k]; k++)
			if (one->letters[k] != '?')
				assert_int_equal(pep440_fits(one->versions[k], row->constraint + 1, &valid),
								 one->letters[k] == 'R');
		jw_result_free(result);
	}
}

RUN_TESTS(NULL, NULL)
