/* The names in a directory: the part that is alike on both systems. */
#pragma once

#include "os/file.h"

/* A directory with more names than this is no place that we want to read. */
enum { NAMES_MOST = 4000000 };

struct named {
	char *name;
	enum os_kind kind;
};

/* Sorts the names and hands it over as two arrays. The strings become the result's on
 * success alone. */
int names_finish(struct jw_error *err, struct named *found, size_t count,
				 struct os_names *ret_names);
