/* The next step that “tune” prints: facts in, one value out. cmd_tune.c has the sentences. */
#pragma once

#include <stdbool.h>

enum tune_next {
	TUNE_UNSET, /* a variable disables the cache */
	TUNE_UNSET_THEN_PRIME,
	TUNE_NAME_FOLDER, /* jitwarm can set the folder */
	TUNE_NAME_FOLDER_THERE,
	TUNE_OVERRIDDEN,
	TUNE_LOG_IN,     /* for a value that jitwarm has set */
	TUNE_LOG_IN_ALL, /* for everything that the next login has */
	TUNE_NO_CHANGE,
	TUNE_APPLY,
};

struct tune_facts {
	bool switched_off;
	bool gpus;
	bool path_advised;
	bool path_usable;
	bool path_named; /* with --path */
	bool in_force;
	bool warnings;
	bool can_apply;
	bool overridden;
	bool pending;
	bool ahead; /* the next login has other settings than this one */
};

enum tune_next tune_decide(const struct tune_facts *facts);
