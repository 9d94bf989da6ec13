/* The names in a directory: the part shared by both systems. */
#pragma once

#include "os/file.h"

/* A directory with more names than this is not read. */
enum { NAMES_MOST = 4000000 };

struct named {
	char *name;
	enum os_kind kind;
};

/* Sorts the names and returns them as two arrays. The result takes the strings over on success
 * only. */
int names_finish(struct jw_error *err, struct named *found, size_t count,
				 struct os_names *ret_names);
