/* Finds PTX modules in files of this machine by their hash.
 *
 * A thin pack says of each module that it lacks in which file it was, and where. People read that,
 * and it decides which files are read first. Only files that a user of this machine has named are
 * opened, and only the hash of the content counts, at any offset. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "pack/manifest.h"

struct origin_module {
	struct digest digest; /* of the payload as keys have it (cache/key.h) */
	uint64_t size_bytes;
	uint32_t at; /* index in the manifest's members */
	bool found;
	size_t file;     /* index in the search's paths: the first that holds it */
	char *member;    /* inside an archive; NULL for a file */
	uint64_t offset; /* of the entry's header, in the image */
};

struct origin_search {
	const char *const *paths; /* read in this order, until all modules are found */
	size_t path_count;
	struct origin_module *modules; /* no duplicates; digest and size are set */
	size_t module_count;
	void *context;
	/* Called once for each module found. May be NULL. */
	int (*payload)(struct jw_error *err, void *context, const struct origin_module *module,
				   const uint8_t *data);
	/* Called for a file, or a member of it, that cannot be read. May be NULL. */
	void (*trouble)(void *context, size_t file, const struct jw_error *why);
	struct jw_cancel cancel;
};

/* Reads the files. A module that is not found is not a failure. The caller owns the modules'
 * members, on failure too: origin_free. */
int origin_find(struct jw_error *err, const struct origin_search *search);
/* The PTX of a manifest as modules to look for: with flags for its members the thin ones that are
 * `needed`; NULL: all. The caller frees them with origin_free. */
int origin_modules(struct jw_error *err, const struct pack_manifest *manifest, const bool *needed,
				   struct origin_module **ret_modules, size_t *ret_count);
/* Frees the array with its content. */
void origin_free(struct origin_module *modules, size_t count);
