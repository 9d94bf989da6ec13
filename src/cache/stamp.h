/* The stamp of a driver's build, read off its library without loading it. Source:
 * docs/driver-cache.md, "Key".
 *
 * libcuda holds __DATE__ and the first half of __TIME__ as one run of 16 bytes ("Jun 25 202401:14")
 * and moves the seconds into place by instructions that carry ":48\0": so on ten Linux builds from
 * 460 to 580, six of them confirmed by keys. What is read is a guess until an entry of the cache
 * shows the same stamp.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cache/profile.h"
#include "os/file.h"

/* Searches a library's bytes. JW_ERR_NOT_FOUND if there is no run, or several that differ, or if no
 * seconds are the most frequent. */
int stamp_find(struct jw_error *err, const void *bytes, size_t size,
			   char ret_stamp[CACHE_STAMP_SIZE + 1]);

/* The same of a mapped library, of which little is resident at a time. */
int stamp_find_mapped(struct jw_error *err, const struct os_map *map,
					  char ret_stamp[CACHE_STAMP_SIZE + 1]);

enum { STAMP_BUILD_ID_SIZE = 65 };
/* The build id of an ELF file's note as hex, "" if there is none. Returns `text`. */
const char *stamp_build_id(const void *bytes, size_t size, char text[STAMP_BUILD_ID_SIZE]);

/* Whether the text is a stamp by its form. */
bool stamp_is(const char *text);
