/* Where programs that may use a GPU are: Python environments besides the active one, and programs
 * and libraries without Python. Runs nothing, follows no link below a folder that is searched, and
 * writes nothing.
 *
 * Threads: any number of threads may call these functions at the same time. */
#ifndef JITWARM_PLACES_H
#define JITWARM_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>

struct jw_place {
	const char *kind; /* "venv", "conda", "pipx", "uv", "pyenv", "Python", "folder", "program" */
	char *name;       /* of a program ("ollama"); of an environment its path */
	bool environment; /* jw_use_environment takes its only path; otherwise jw_find takes all */
	char **paths;     /* absolute, without links */
	size_t path_count;
};

struct jw_places {
	struct jw_place *items;
	size_t count;
	char **notes; /* a line for people each: what was left out, and why */
	size_t note_count;
};

struct jw_places_options {
	const char *const *folders; /* look below these instead of the usual places */
	size_t folder_count;
	struct jw_cancel cancel;
};

/* The usual places are a table (docs/commands.md), conda's list of environments, Windows'
 * registered Pythons, and folders near the top of the account's own. A folder in which there is no
 * environment is a place itself. -1: JW_ERR_INTERRUPTED, or a folder that cannot be looked at. The
 * caller frees with jw_places_free. */
int jw_places_find(struct jw_error *err, const struct jw_places_options *options,
				   struct jw_places **ret_places);
void jw_places_free(struct jw_places *places);

#endif
