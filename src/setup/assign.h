/* Which variables of the driver's cache a file sets: shell profiles, lists of variables, systemd
 * units, the environment of a process. Executes nothing: conditions are ignored, and $ in a value
 * stays literal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum assign_form {
	ASSIGN_SHELL, /* sh, csh and fish: export A=b, A=b, setenv A b, set -gx A b, unset A */
	ASSIGN_LIST,  /* /etc/environment, environment.d: A=b */
	ASSIGN_UNIT,  /* Environment= of systemd units */
};

enum { ASSIGN_MOST_NAME = 64, ASSIGN_MOST_VALUE = 4096 };

struct assign {
	char name[ASSIGN_MOST_NAME], value[ASSIGN_MOST_VALUE]; /* a longer value is cut */
	size_t line;                                           /* from 1 */
	size_t offset;                                         /* of the line in the text */
	bool unset;
};

/* The variables of interest: the driver's, and names that users take for them. NULL at the end. */
extern const char *const assign_names[];
bool assign_concerns(const char *name);

/* Reports every assignment to such a variable. A return other than 0 of `take` ends it. */
int assign_parse(struct jw_error *err, enum assign_form form, const char *text, size_t size,
				 int (*take)(struct jw_error *err, void *context, const struct assign *assign),
				 void *context);
