/* Files below a directory. */
#pragma once

#include "find/found.h"

/* Adds every file below `directory` that may hold device code (devcode/code_file.h). Follows links,
 * and enters each directory once. A directory that cannot be read becomes a trouble in the list,
 * and the walk continues. Skips pseudo file systems (/proc) silently, unless `directory` is on one.
 */
int directory_walk(struct jw_error *err, struct found_list *list, const char *directory,
				   const struct find_package *package);
