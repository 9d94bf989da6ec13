/* What a conda package says about itself, with another build string: index.json, paths.json.
 * Sources: conda's documentation, “Conda package specification”; CEP 20 and 26. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"

/* "h1234_0" → "h1234_0_jitwarm_sm86"; one of jitwarm's gets the GPUs that it lacks. The caller
 * frees it. */
char *conda_edit_build(struct jw_error *err, const char *build, const struct jw_target *gpus,
					   size_t gpu_count);

/* index.json with another build string; every other byte stays. */
int conda_edit_index(struct jw_error *err, const struct buf *index, const char *build,
					 struct buf *ret_text);

/* A file whose content changes. */
struct conda_change {
	char *path;
	uint8_t before[32], sha256[32];
	uint64_t size_bytes;
	bool listed;
};
/* paths.json with other hashes and sizes; every other byte stays. JW_ERR_FORMAT: a changed file is
 * not in it, or has another hash there. */
int conda_edit_paths(struct jw_error *err, const struct buf *paths, struct conda_change *changes,
					 size_t count, struct buf *ret_text);
