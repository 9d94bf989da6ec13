/* The stamp of a driver's build, read from its library without loading it. Source:
 * docs/internals/driver-cache.md, "Key". libcuda contains __DATE__ and the first half of __TIME__
 * as one run of 16 bytes ("Jun 25 202401:14"), and stores the seconds by instructions that contain
 * ":48\0". This holds for ten Linux builds from 460 to 580, six of them confirmed by keys. The
 * result is a guess until an entry of the cache shows the same stamp. */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "os/file.h"

enum { CACHE_STAMP_SIZE = 19 }; /* "Jun 25 2024" "01:14:48" */

/* Searches a mapped library, of which little stays resident. JW_ERR_NOT_FOUND if there is no run,
 * if there are different ones, or if no number of seconds is the most frequent. */
int stamp_find(struct jw_error *err, const struct os_map *map,
			   char ret_stamp[CACHE_STAMP_SIZE + 1]);

enum { STAMP_BUILD_ID_SIZE = 65 };
/* Writes the build id of an ELF file's note as hex, "" if there is none. Returns `text`. */
const char *stamp_build_id(const void *bytes, size_t size, char text[STAMP_BUILD_ID_SIZE]);
