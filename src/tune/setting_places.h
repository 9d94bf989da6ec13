/* The files that hold the settings of a scope, and those that are looked at. */
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

/* Appends to `text` the lines that set the requested variables. JW_ERR_USAGE for a path that the
 * form cannot hold. */
int place_lines(struct jw_error *err, enum place_form form, uint64_t limit_bytes, const char *path,
				struct buf *text);

/* A system path, after $JITWARM_SYSTEM_ROOT if the test beds set it. The caller frees it. */
char *place_system_path(const char *path);
/* $XDG_CONFIG_HOME or ~/.config, followed by `rest`. */
char *place_config_path(struct jw_error *err, const char *rest);
/* Below the home directory. */
char *place_home_path(struct jw_error *err, const char *rest);
/* The same for zsh's files: below $ZDOTDIR if it is set. */
char *place_zsh_path(struct jw_error *err, const char *name);

/* The files in which settings are looked for, in the order in which a login reads them. */
struct setting_file {
	char *path;
	const char *source; /* as in struct jw_setting */
	enum assign_form form;
};
struct setting_files {
	struct setting_file *items;
	size_t count, capacity;
	size_t of_system; /* so many, the first ones, are the system's */
};
/* Those that may be there; of folders, what is in them. */
int setting_files_list(struct jw_error *err, struct setting_files *ret_files);
void setting_files_free(struct setting_files *files);
