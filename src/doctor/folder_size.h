/* How much is below a folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct folder_size {
	size_t files;
	uint64_t bytes;    /* of their lengths */
	int64_t newest_ns; /* 0: there is no file */
	size_t unread;     /* folders that could not be read */
	bool cut;          /* there are more than `most` names */
};

/* Follows no link below `path`, and enters no other file system. -1: out of memory. */
int folder_size(struct jw_error *err, const char *path, size_t most, struct folder_size *ret_size);
