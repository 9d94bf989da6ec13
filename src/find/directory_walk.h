/* Files below a directory. */
#pragma once

#include "find/found.h"

/* Adds every file below `directory` that may hold device code (devcode/code_file.h). Follows links,
 * and enters each directory once. A directory that cannot be read becomes a trouble in the list,
 * and the walk continues. Skips pseudo file systems (/proc) silently, unless `directory` is on one.
 */
int directory_walk(struct jw_error *err, struct found_list *list, const char *directory,
				   const struct find_package *package);

/* The same in two steps, between which packages take what is theirs: the first one looks at all
 * files whose names allow device code, and the second one adds those that may hold some. */
int directory_look(struct jw_error *err, struct found_list *list, const char *directory,
				   struct found_seen *seen);
int directory_take_looked(struct jw_error *err, struct found_list *list);
