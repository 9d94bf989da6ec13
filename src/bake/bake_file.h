/* One library: its containers that the driver would compile, and their copy with machine code. */
#pragma once

#include <jitwarm/bake.h>

#include "bake/linker.h"
#include "cache/profile.h"

struct bake_file_job {
	const struct jw_system *system; /* whose driver links; NULL: nothing is linked */
	struct linker *linker;          /* what links */
	const char *cache_dir;          /* the cache whose entries supply the code */
	const struct cache_profile *profile;
	uint32_t code_cuda;              /* of the compiler of that code (1000 * major + 10 * minor) */
	const struct jw_target *targets; /* GPUs */
	size_t target_count;
	const char *output; /* the copy's path; NULL: only count */
	struct jw_cancel cancel;
};

/* Fills in all of `file` but its path. A failure of the library goes to file->failed;
 * JW_ERR_INTERRUPTED: cancelled. */
int bake_file(struct jw_error *err, const struct bake_file_job *job, struct jw_bake_file *file);
