/* The files that hold the settings of a scope. */
#pragma once

#include <jitwarm/tune.h>

#include "base/buf.h"
#include "tune/assign.h"

/* The syntax of a file. */
enum place_form {
	PLACE_SH,
	PLACE_FISH,
	PLACE_FISH_LOGIN, /* for login shells only */
	PLACE_LIST,       /* NAME=value: /etc/environment, environment.d */
	PLACE_UNIT,
	PLACE_ACTIVATE_SH, /* conda's scripts: the former value is restored */
	PLACE_DEACTIVATE_SH,
	PLACE_ACTIVATE_FISH,
	PLACE_DEACTIVATE_FISH,
	PLACE_ACTIVATE_BAT,
	PLACE_DEACTIVATE_BAT,
	PLACE_ACTIVATE_PS1,
	PLACE_DEACTIVATE_PS1,
	PLACE_FORMS
};

struct setting_place {
	char *path;
	enum place_form form;
};

enum { PLACE_MOST = 12 };
struct setting_places {
	struct setting_place items[PLACE_MOST];
	size_t count;
};

/* The files of a scope on this system; they may be missing. On Windows the user's and the machine's
 * scope have no files (os/env.h). */
int places_of(struct jw_error *err, const struct jw_tune_request *request,
			  struct setting_places *ret_places);
void places_free(struct setting_places *places);

/* "# " or "rem ". */
const char *place_comment(enum place_form form);
/* The form of a recorded file, by its name: false if it is not one of ours. */
bool place_form_of(const char *path, enum place_form *ret_form);

/* Appends to `text` the lines that set the requested variables. JW_ERR_USAGE for a path that the
 * form cannot hold. */
int place_lines(struct jw_error *err, enum place_form form, uint64_t limit_bytes, const char *path,
				struct buf *text);

/* A system path, after $JITWARM_SYSTEM_ROOT if the test beds set it. The caller frees it. */
char *place_system_path(struct jw_error *err, const char *path);
/* $XDG_CONFIG_HOME or ~/.config, followed by `rest`. */
char *place_config_path(struct jw_error *err, const char *rest);
/* Below the home directory. */
char *place_home_path(struct jw_error *err, const char *rest);
