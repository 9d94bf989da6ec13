/* Finds programs that may use a GPU: Python environments besides the active one, and programs and
 * libraries without Python. Runs nothing, follows no link below a folder that is searched, and
 * writes nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>

struct jw_place {
	const char *kind; /* "venv", "conda", "pipx", "uv", "pyenv", "Python", "folder", "program" */
	char *name;       /* the name of a program ("ollama"), or the path of an environment */
	bool environment; /* pass its only path to jw_use_environment; otherwise pass all paths to
						 jw_find */
	char **paths;     /* absolute, without links */
	size_t path_count;
};

struct jw_places {
	struct jw_place *items;
	size_t count;
	char **notes; /* one line each: what was left out, and why */
	size_t note_count;
};

struct jw_places_options {
	const char *const *folders; /* search below these instead of the usual places */
	size_t folder_count;
	struct jw_cancel cancel;
};

/* Finds the places. The usual places are a table (docs/commands.md), conda's list of environments,
 * Windows' registered Pythons, and folders near the top of the account's own. A folder in which
 * there is no environment is a place itself. -1 with JW_ERR_INTERRUPTED, or for a folder that
 * cannot be examined. The caller frees the list with jw_result_free. */
int jw_places_find(struct jw_error *err, const struct jw_places_options *options,
				   struct jw_places **ret_places);
