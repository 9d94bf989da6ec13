/* conda's record of an installed package: conda-meta/NAME-VERSION-BUILD.json. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum { CONDA_MOST_BYTES = 64 << 20 };

struct conda_package {
	char *name, *version;
	char **files; /* relative to the environment's prefix, '/' between names */
	size_t file_count;
	char **depends; /* only the names, as conda writes them */
	size_t depend_count;
};

int conda_parse(struct jw_error *err, const void *data, size_t size,
				struct conda_package *ret_package);
int conda_read(struct jw_error *err, const char *path, struct conda_package *ret_package);
void conda_free(struct conda_package *package);
