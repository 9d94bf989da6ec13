/* Paths with "*" in their names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef int (*place_match_fn)(struct jw_error *err, void *context, const char *path);

/* Calls `match` with each existing path of a pattern. It begins with "/", "~" (the account's
 * folder), "{NAME}" (a variable; each absolute member if it is a list), or "{PATH:program}" (the
 * folder of each such program on PATH, links resolved), and has '/' between names, in which "*"
 * stands for any characters. Folders with more than 10,000 names are not searched, and no more than
 * 1,000 paths are given. */
int place_pattern_each(struct jw_error *err, const char *pattern, place_match_fn match,
					   void *context);
/* Whether a name fits; "*" stands for any characters. */
bool place_name_fits(const char *name, const char *pattern, size_t length);
