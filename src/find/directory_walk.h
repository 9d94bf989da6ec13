/* Files below a directory. */
#pragma once

#include "find/found.h"

/* Adds every file below `directory` that may hold device code (devcode/code_file.h). Links are
 * followed, each directory is entered once. A directory that cannot be read becomes a trouble in
 * the list; the walk goes on. File systems that the kernel makes up (/proc) are passed
 * over in silence, unless `directory` is on one. */
int directory_walk(struct jw_error *err, struct found_list *list, const char *directory,
				   const struct find_package *package);
