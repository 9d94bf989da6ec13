/* PTX modules in files of this machine, found by their hash.
 *
 * A thin pack says of each module that it lacks in which file and where it stood. That tells people
 * what is missing, and which files to look into first; what is opened are files that somebody on
 * this machine has named, and what counts is the hash of what stands in them, wherever that is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/hash.h"

struct origin_module {
	struct digest digest; /* of the payload as keys have it (cache/key.h) */
	uint64_t size_bytes;
	bool found;
	size_t file;     /* index in the search's paths: the first that holds it */
	char *member;    /* inside an archive; NULL for a file */
	uint64_t offset; /* of the entry's header, in the image */
};

struct origin_search {
	const char *const *paths; /* looked into in this order, until all is found */
	size_t path_count;
	struct origin_module *modules; /* none twice; digest and size are set */
	size_t module_count;
	void *context;
	/* What was found, each module once. May be NULL. */
	int (*payload)(struct jw_error *err, void *context, size_t module, const uint8_t *data);
	/* A file, or a member of it, that could not be read. May be NULL. */
	void (*trouble)(void *context, size_t file, const struct jw_error *why);
	struct jw_cancel cancel;
};

/* Reads the files. What is not found stays so, which is no failure. Members of the modules are the
 * caller's, on failure too: origin_free. */
int origin_find(struct jw_error *err, const struct origin_search *search);
/* Frees the array with what it holds. */
void origin_free(struct origin_module *modules, size_t count);
