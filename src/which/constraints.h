/* The facts from which a row of jw_constraints is made. */
#pragma once

#include <jitwarm/constraints.h>
#include <jitwarm/which.h>

/* The answer for a release on all GPUs. */
enum state { RUNS, FAILS, UNKNOWN };

/* A release of the index, on all GPUs. */
struct candidate {
	const char *version;
	enum state state;
	const struct jw_which_release *fails; /* its answer for the first GPU on which it fails; that of
											 a newer release if it was not examined */
};

struct package {
	const char *name;
	struct jw_which **answers; /* one for each GPU; all have the same releases */
	struct candidate *items;   /* newest first */
	size_t count;
	bool asked;         /* it is in question */
	const char *plugin; /* what pip would install without it, “jax[cuda13]”, if none of it runs */
	const char *needed_by; /* the package that requires one of its failing releases, and runs */
	char *needed; /* that release, if the newest one that runs requires it: “3.3.1”; else NULL */
};

struct constraining {
	const struct jw_constraints_options *options;
	struct jw_constraints *result;
	void *memory;
	char *text; /* the list */
	size_t size;
	struct package *packages;
	size_t count;
};

/* Returns whether pip may take a release from PyPI, or builds it. */
bool is_candidate(const struct jw_which_release *release);
/* Returns whether nothing of a release is known to fail: it may run on the CPU. */
bool is_allowed(const struct jw_which_release *release);

/* Adds the row of a package, unless no release fails. Reasons are English in every language, since
 * the file is. */
void constrain(struct constraining *work, const struct package *package);
/* Adds the row of a package with builds of the label: the build that is chosen, or NULL for none.
 * `fits`: it had to fit the chosen torch. */
void constrain_to_build(struct constraining *work, const struct package *package,
						const struct jw_which_release *build, bool fits);
/* Adds the row of a package that stays as it is, or that the list lacks. */
void constrain_not(struct constraining *work, enum jw_constraint_kind kind, const char *package);
