/* A file's row in the RECORD of the package that installed it (PEP 376, PEP 627): pip compares its
 * hash and size. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct package_row {
	char *folder; /* NAME-VERSION.dist-info; NULL if no package lists the file */
	char *record; /* the path of RECORD in the folder */
	char *row;    /* without its line feed */
};

/* Reads a line of RECORD; false at its end. */
struct package_line {
	const char *text;
	size_t length, bare; /* the length with and without the line's end */
};
bool package_row_next(const struct buf *record, size_t *at, struct package_line *ret_line);

/* Searches the folders above `library`, whose path has no links. -1 if one of them cannot be
 * read. */
int package_row_find(struct jw_error *err, const char *library, struct package_row *ret_row);
void package_row_free(struct package_row *row);

/* Returns the row with another SHA-256 and size; the caller frees it. */
char *package_row_with(const char *row, const uint8_t hash[32], uint64_t size_bytes);
/* Returns whether the row has this SHA-256. */
bool package_row_is(const char *row, const uint8_t hash[32]);
