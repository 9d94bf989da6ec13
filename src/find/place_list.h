/* The list that jw_places_find makes: each place once. */
#pragma once

#include <jitwarm/places.h>

#include "base/error.h"

enum { PLACES_MOST = 4096, PLACE_MOST_PATHS = 4096, PLACE_MOST_NOTES = 100 };

struct place_list {
	struct jw_places *places;
	size_t capacity;
	struct jw_cancel cancel;
};

/* "venv", "conda", "Python"; NULL: no folder of an environment, by what is in it. */
const char *environment_kind(const char *path);
/* Adds an environment, if there is one at `path` and it is not in the list. `kind` NULL: what it
 * looks like. *ret_is (may be NULL): whether there is one. */
int place_add_environment(struct jw_error *err, struct place_list *list, const char *kind,
						  const char *path, bool *ret_is);
/* Adds a place of this name, and a path to it. Skips a path that is missing, or there already; what
 * is beyond PLACE_MOST_PATHS is left out with a note. */
int place_add_path(struct jw_error *err, struct place_list *list, const char *kind,
				   const char *name, const char *path);
/* A line on what is left out; the same one is said once, and PLACE_MOST_NOTES at most. */
int place_note(struct jw_error *err, struct place_list *list, const char *format, ...)
	JW_PRINTF(3, 4);
