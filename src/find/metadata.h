/* A package's metadata: METADATA and PKG-INFO (RFC 822 headers, PEP 566). */
#pragma once

#include "base/buf.h"
#include "find/requirement.h"

enum { METADATA_MOST_BYTES = 16 << 20, METADATA_MOST_REQUIREMENTS = 4096 };

struct metadata {
	char *name, *version; /* NULL if the field is missing */
	struct requirement *requires;
	size_t require_count, require_capacity;
};

/* Reads the header, not the description behind the first empty line. Skips malformed fields. Fails
 * only out of memory or past the limits. */
int metadata_parse(struct jw_error *err, const void *data, size_t size,
				   struct metadata *ret_metadata);
int metadata_read(struct jw_error *err, const char *path, struct metadata *ret_metadata);
void metadata_free(struct metadata *metadata);

/* One line of `size` bytes at *at, without its line feed or carriage return; false at the end. */
bool metadata_line(const char **at, const char *end, const char **ret_line, size_t *ret_length);
