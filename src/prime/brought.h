/* The releases of listed packages that a release requires, and that pip brings along, for
 * jw_which. This is no resolver: it follows the requirements of the named packages, and of those
 * that a package without device code of its own requires; and only packages of the list. */
#pragma once

#include <jitwarm/which.h>

#include "base/error.h"
#include "base/text.h"
#include "find/requirement.h"
#include "plan/wheel_list.h"

/* A package with its wheels, and the answers for them, which are found once for a question. */
struct shelf {
	char name[PACKAGE_MAX_NAME]; /* normalised */
	bool listed;
	struct wheel_list list;
	struct jw_which_release *answers; /* of each wheel; without a version: not judged yet */
};

struct question {
	const struct jw_which_options *options;
	char *text; /* the text of the list in the program */
	size_t size;
	struct shelf **shelves;
	size_t count, capacity;
	unsigned depth; /* of packages that pin each other */
	/* For the other GPUs of the options; their text is that of this question. */
	struct question *others;
	struct jw_which_options *other_options;
};

/* Finds the wheels of the named package, in the index's list if there is one. */
int question_named(struct jw_error *err, struct question *question,
				   const struct jw_which_options *options, struct shelf **ret_shelf);
/* Finds the wheels of a package, which are read once; `listed` is false if the list lacks it. */
int question_shelf(struct jw_error *err, struct question *question, const char *name,
				   struct shelf **ret_shelf);
void question_free(struct question *question);

/* Returns the wheel of a version for the platform; NULL if there is none. */
const struct wheel *shelf_wheel(const struct shelf *shelf, const char *version,
								const char *platform);
/* Returns whether a wheel has code for GPUs, or needs a CUDA runtime, beside a profiler's. */
bool wheel_has_code(const struct wheel *wheel);

/* Reads a requirement of a wheel. False if it does not count for the question, with these extras
 * (NULL: none). */
bool question_requires(const struct question *question, const struct wheel *wheel,
					   const char *extras, size_t at, struct required *ret_required);

/* Judges the packages that a wheel which runs requires in one version: it fails if torch, or a
 * library of NVIDIA's, does. */
int judge_pins(struct jw_error *err, struct question *question, const struct wheel *wheel,
			   const char *extras, struct jw_which_release *release);
/* Judges the other packages that a release brings along, and finds `beside`, `uses` and `lacking`;
 * the release fails if it cannot run with any release of them. `own`: it has device code. */
int judge_brought(struct jw_error *err, struct question *question, struct shelf *shelf,
				  const struct wheel *wheel, bool own, struct jw_which_release *release);

/* Returns what pip needs to find a build, by the row “index” of packages.tsv: its address ends with
 * the folder of the build's label, if it has one. NULL for nothing. The caller frees it. */
char *pip_options_of(const char *package, const struct wheel *wheel);
/* Judges one wheel by itself, and by what it requires in one version (which.c). */
int judge_own(struct jw_error *err, struct question *question, const struct shelf *shelf,
			  const struct wheel *wheel, const char *extras, struct jw_which_release *release);
