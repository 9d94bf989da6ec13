/* The files that hold the settings of a scope. */
#pragma once

#include <jitwarm/tune.h>

#include "base/error.h"

/* The syntax of a file. */
enum place_form {
	PLACE_LIST, /* NAME="value", for environment.d and for shells */
	PLACE_FISH,
	PLACE_FISH_LOGIN, /* for login shells only */
	PLACE_SHARED,     /* NAME=value below a mark: /etc/environment */
	PLACE_FORMS
};

struct setting_place {
	char *path; /* a file of jitwarm's own, except for PLACE_SHARED */
	enum place_form form;
	enum jw_scope scope;
	char *loader; /* the profile that gets the marked line that loads `path`; NULL if none is needed
				   */
};

enum { PLACE_MAX = 8 };
/* An arena (base/arena.h), which jw_result_free frees. */
struct setting_places {
	struct setting_place items[PLACE_MAX];
	size_t count;
};

/* Lists the files of a scope for the account's shell; they may be missing. On Windows the user's
 * and the machine's scope have no files (os/env.h). */
int places_of(struct jw_error *err, enum jw_scope scope, struct setting_places **ret_places);
/* Lists the files of a scope for all shells, for undoing; some are listed more than once. */
int places_of_all(struct jw_error *err, enum jw_scope scope, struct setting_places **ret_places);

/* Returns a system path, after $JITWARM_SYSTEM_ROOT if tests set it. `owner` keeps the path, here
 * and below (base/arena.h). */
char *place_system_path(void *owner, const char *path);
/* Returns $XDG_CONFIG_HOME or ~/.config, followed by `rest`. */
char *place_config_path(struct jw_error *err, void *owner, const char *rest);
