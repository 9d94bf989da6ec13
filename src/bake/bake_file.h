/* Bakes one library: finds its containers that the driver would compile, and writes a copy of the
 * library in which they have machine code. */
#pragma once

#include <jitwarm/bake.h>

#include "bake/linker.h"
#include "cache/profile.h"

struct bake_file_job {
	const struct jw_system *system; /* the system whose driver links; NULL to link nothing */
	struct linker *linker;          /* links the objects */
	const char *cache_dir;          /* the cache whose entries supply the code */
	const struct cache_profile *profile;
	/* The CUDA version of the compiler of that code (1000 * major + 10 * minor). */
	uint32_t code_cuda;
	const struct jw_target *targets; /* one for each GPU */
	size_t target_count;
	const char *output; /* the copy's path; NULL only to count */
	struct jw_cancel cancel;
};

/* Fills in all of `file` except its path. A failure of the library is stored in file->failed;
 * JW_ERR_INTERRUPTED if cancelled. */
int bake_file(struct jw_error *err, const struct bake_file_job *job, struct jw_bake_file *file);
