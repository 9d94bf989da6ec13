/* A question of jw_which about the releases of packages: their wheels, and the answer for each
 * wheel by itself and by what it requires in one version. brought.h chooses the other packages. */
#pragma once

#include <jitwarm/which.h>

#include "base/error.h"
#include "base/text.h"
#include "find/requirement.h"
#include "which/wheel_list.h"

/* A package with its wheels, and the answers for them, which are found once for a question. */
struct shelf {
	char name[PACKAGE_MAX_NAME]; /* normalised */
	bool listed;
	struct wheel_list list;
	struct jw_which_release *answers; /* of each wheel; without a version: not judged yet */
};

struct question {
	struct jw_which_options options;
	void *owner;      /* the result (base/arena.h) whose answers are made */
	void *memory;     /* owns all that lasts as long as the question */
	const char *text; /* the text of the list in the program */
	size_t size;
	struct shelf **shelves;
	size_t count, capacity;
	unsigned depth; /* of packages that pin each other */
};

/* Opens a question; its answers belong to the owner. */
int question_open(struct jw_error *err, const struct jw_which_options *options, void *owner,
				  struct question **ret_question);
void question_free(struct question *question);
/* Finds the wheels of the named package, in the index's list if there is one. */
int question_named(struct jw_error *err, struct question *question,
				   const struct jw_which_options *options, struct shelf **ret_shelf);
/* Finds the wheels of a package, which are read once; `listed` is false if the list lacks it. */
int question_shelf(struct jw_error *err, struct question *question, const char *name,
				   struct shelf **ret_shelf);
/* Reads a requirement of a wheel. False if it does not count for the question, with these extras
 * (NULL: none). */
bool question_requires(const struct question *question, const struct wheel *wheel,
					   const char *extras, size_t at, struct required *ret_required);

/* Returns the wheel of a version for the platform; NULL if there is none. */
const struct wheel *shelf_wheel(const struct shelf *shelf, const char *version,
								const char *platform);
/* Returns whether some release of a package that a requirement allows has code on the platform. */
bool shelf_has_code(const struct shelf *shelf, const char *versions, const char *platform);
/* Returns whether a package cannot run without one that it requires: torch, and NVIDIA's libraries.
 */
bool question_is_base(const char *required);

/* Begins the answer for a wheel, and names who declares a build. */
void question_begin_release(const struct question *question, const char *package,
							const struct wheel *wheel, struct jw_which_release *release);
/* Judges one wheel by itself, and by what it requires in one version: it fails if torch, or a
 * library of NVIDIA's, does. */
int question_judge_own(struct jw_error *err, struct question *question, const struct shelf *shelf,
					   const struct wheel *wheel, const char *extras,
					   struct jw_which_release *release);
/* Judges the packages that a wheel which runs requires in one version. */
int question_judge_pins(struct jw_error *err, struct question *question, const struct wheel *wheel,
						const char *extras, struct jw_which_release *release);
/* Fails a release, by the answer for a package that it requires. */
void question_fail_by(const struct question *question, const char *name, const char *versions,
					  const struct jw_which_release *answer, struct jw_which_release *release);
/* Returns what pip needs to find a build, by the row “index” of packages.tsv: its address ends with
 * the folder of the build's label, if it has one. NULL for nothing. */
char *question_pip_options(void *owner, const char *package, const struct wheel *wheel);

/* Finds the answer for a wheel; for one that was not examined, that of the wheels before and after
 * it if both fail. */
int question_answer(struct jw_error *err, struct question *question, struct shelf *shelf,
					const struct wheel *wheel, const struct jw_which_release **ret_answer);
