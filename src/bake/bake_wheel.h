/* A wheel: a new one, whose libraries have machine code. */
#pragma once

#include <jitwarm/bake.h>

#include "bake/bake_file.h"

struct bake_package_job {
	struct bake_file_job file; /* for each library; its output is ignored */
	bool any_owner;            /* as jw_bake_options has it */
	const char *path;          /* of the package */
	const char *folder;        /* for the new one; NULL: only count */
	const char *state_dir;
	/* How much of the new package is packed; NULL: nobody is told. */
	void (*packing)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
	/* Only looks for what refuses the package before a library is unpacked: nothing is counted. */
	bool only_check;
};

struct bake_files {
	struct jw_bake_file *items;
	size_t count, capacity;
};

/* Takes the texts of the item over. */
void bake_files_add(struct bake_files *files, const struct jw_bake_file *file);
void bake_files_free(struct bake_files *files);

/* Whether the name is one of a package, also of one that cannot be baked. */
bool bake_is_package(const char *path);
/* Adds its libraries with something to bake, or that failed; or one item, which has no member: why
 * there is no new package. JW_ERR_INTERRUPTED: cancelled. */
int bake_package(struct jw_error *err, const struct bake_package_job *job,
				 struct bake_files *files);

/* Why a member is not unpacked at all: it unpacks to too much. */
int bake_package_check_size(struct jw_error *err, const char *member, uint64_t packed_bytes,
							uint64_t size_bytes);
