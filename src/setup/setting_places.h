/* The files that hold the settings of a scope. */
#pragma once

#include <jitwarm/tune.h>

#include "base/error.h"

/* The syntax of a file. */
enum place_form {
	PLACE_SH,
	PLACE_FISH,
	PLACE_FISH_LOGIN, /* for login shells only */
	PLACE_LIST,       /* NAME=value: /etc/environment, environment.d */
	PLACE_FORMS
};

struct setting_place {
	char *path;
	enum place_form form;
};

enum { PLACE_MOST = 2 };
struct setting_places {
	struct setting_place items[PLACE_MOST];
	size_t count;
};

/* The files of a scope on this system; they may be missing. On Windows the user's and the machine's
 * scope have no files (os/env.h). */
int places_of(struct jw_error *err, const struct jw_tune_request *request,
			  struct setting_places *ret_places);
void places_free(struct setting_places *places);

/* A system path, after $JITWARM_SYSTEM_ROOT if the test beds set it. The caller frees it. */
char *place_system_path(const char *path);
/* $XDG_CONFIG_HOME or ~/.config, followed by `rest`. */
char *place_config_path(struct jw_error *err, const char *rest);
/* Below the home directory. */
char *place_home_path(struct jw_error *err, const char *rest);
/* The same for zsh's files: below $ZDOTDIR if it is set. */
char *place_zsh_path(struct jw_error *err, const char *name);
