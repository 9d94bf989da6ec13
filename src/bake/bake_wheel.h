/* Bakes a wheel: writes a new one, whose libraries have machine code. */
#pragma once

#include <jitwarm/bake.h>

#include "bake/bake_file.h"

struct bake_package_job {
	struct bake_file_job file; /* the job of each library; its output is ignored */
	bool any_owner;            /* as in jw_bake_options */
	const char *path;          /* the path of the package */
	const char *folder;        /* the folder for the new package; NULL only to count */
	const char *state_dir;
	/* Called with the number of bytes of the new package that are packed; may be NULL. */
	void (*packing)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
	/* Only checks whether the package is refused, before a library is unpacked; nothing is
	 * counted. */
	bool only_check;
};

struct bake_files {
	void *owner; /* of the items and their texts (base/arena.h) */
	struct jw_bake_file *items;
	size_t count, capacity;
	size_t images; /* the files with device code, also those that are no item */
};

/* Adds an item, whose texts the owner has. */
void bake_files_add(struct bake_files *files, const struct jw_bake_file *file);

/* Returns whether the name is a package's, even of one that cannot be baked. */
bool bake_is_package(const char *path);
/* Adds the package's libraries that have something to bake, or that failed; or a single item
 * without a member, the reason why there is no new package. JW_ERR_INTERRUPTED if cancelled. */
int bake_package(struct jw_error *err, const struct bake_package_job *job,
				 struct bake_files *files);

/* Refuses a member that would unpack to too much; it is not unpacked at all. */
int bake_package_check_size(struct jw_error *err, const char *member, uint64_t packed_bytes,
							uint64_t size_bytes);
