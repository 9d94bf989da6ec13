/* Where an opaque pack goes: a new directory beside the cache, which takes its place when it is
 * complete. */
#pragma once

#include "pack/import.h"

/* A directory that is missing or empty takes it; one with the very files that the pack has needs
 * nothing (JW_IMPORT_THERE); of any other *why says that it is in the way. */
int place_judge(struct jw_error *err, const struct import *import,
				enum jw_import_verdict *ret_verdict, char why[512]);

/* CACHE.jitwarm-01234567, with a lock beside it that tells others that it is alive. */
struct place {
	char *root, *lock_path;
	struct os_file *lock; /* NULL where files cannot be locked */
};

/* Makes it, and takes away what killed imports have left. place_close takes it away again, unless
 * it has become the cache. One that was never opened ({0}) is fine. */
int place_open(struct jw_error *err, const struct import *import, struct place *ret_place);
void place_close(struct place *place);
/* From now on it is the cache, with the owner and mode of the empty one that it replaces. */
int place_take(struct jw_error *err, const struct import *import, struct place *place);
