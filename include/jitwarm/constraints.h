/* Constraints for pip and uv: which released versions of packages must not be installed, because
 * they do not run on some GPUs under a driver. pip and uv resolve, jitwarm constrains. Made from
 * the answers of jw_which; needs no network, no GPU and no driver. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/error.h>
#include <jitwarm/target.h>

enum jw_constraint_kind {
	JW_CONSTRAINT_LIMITS,     /* some releases fail, others run */
	JW_CONSTRAINT_NONE_RUNS,  /* no release runs: a version that no index has */
	JW_CONSTRAINT_APART,      /* no release runs on all of the GPUs, but some run on each */
	JW_CONSTRAINT_BUILD,      /* the newest build with the label that runs */
	JW_CONSTRAINT_REQUIRED,   /* comment: no release runs, or not the required one; a release that
								 runs requires it, and runs without it */
	JW_CONSTRAINT_PLUGIN,     /* comment: no release runs, and pip would leave it out of an extra */
	JW_CONSTRAINT_UNEXAMINED, /* comment: none is known to run, and some were not examined */
	JW_CONSTRAINT_KEPT,       /* comment: the installed one must not be replaced */
	JW_CONSTRAINT_UNLISTED,   /* comment: the list lacks the package */
};

struct jw_constraint {
	enum jw_constraint_kind kind;
	char *package;    /* normalised */
	char *constraint; /* "torch<2.8.0"; NULL for a comment */
	char *reason;     /* "2.8.0 and newer: no code for sm_61" */
};

struct jw_constraints_options {
	const struct jw_target *targets; /* at least one, each of which the driver runs */
	size_t target_count;
	struct jw_driver driver; /* zeros for the newest driver */
	const char *platform;    /* linux, linux-aarch64, windows */
	const char *python;      /* "3.11"; NULL for all */
	/* Packages as typed, with or without extras and versions; NULL for the whole list. */
	const char *const *packages;
	size_t package_count;
	/* The label of builds of PyTorch's index, "cu126"; NULL for PyPI, unless PyPI has only builds
	 * for the CPU. */
	const char *label;
	bool keeps_torch; /* the installed torch must not be replaced (jw_constraints_keep_torch) */
};

struct jw_constraints {
	struct jw_constraint *rows; /* in the order of the list; those that it lacks come last */
	size_t count;
	char *date; /* that of the list */
	/* The index of builds: its label and address; NULLs for PyPI. */
	char *label, *address;
	/* The label of builds of torch that run, and are newer than what PyPI has for the GPUs; NULL
	 * for none. */
	char *newer_label;
	char *newer; /* "torch 2.14.1+cu126" */
};

/* Finds the constraints. JW_ERR_USAGE if no build of the platform has the label, or for an unknown
 * platform; JW_ERR_UNSUPPORTED if the driver does not run a GPU. The caller frees the result with
 * jw_result_free. */
int jw_constraints(struct jw_error *err, const struct jw_constraints_options *options,
				   struct jw_constraints **ret_constraints);

/* Returns whether the torch of the active environment is the build of an image of NVIDIA's, which
 * pip must not replace: its version has the label +nv, or a file of PIP_CONSTRAINT that jitwarm has
 * not written holds torch. */
bool jw_constraints_keep_torch(void);

/* The first words of each file of constraints that jitwarm writes. */
#define JW_CONSTRAINTS_HEAD "# Constraints for pip and uv, by jitwarm"
