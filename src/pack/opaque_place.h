/* Where an opaque pack is written: a new directory beside the cache, which replaces the cache when
 * it is complete. */
#pragma once

#include "pack/import.h"

/* A missing or empty directory accepts the pack. A directory with exactly the pack's files needs
 * nothing (JW_IMPORT_THERE). For any other, *why says that it is in the way. */
int place_judge(struct jw_error *err, const struct import *import,
				enum jw_import_verdict *ret_verdict, char why[512]);

/* CACHE.jitwarm-01234567, with a lock beside it that tells other processes that it is in use. */
struct opaque_place {
	char *root, *lock_path;
	struct os_file *lock; /* NULL where files cannot be locked */
};

/* Makes the directory and removes leftovers of killed imports. place_close removes it unless it has
 * become the cache; {0}, never opened, is valid for place_close. */
int place_open(struct jw_error *err, const struct import *import, struct opaque_place *ret_place);
void place_close(struct opaque_place *place);
/* Makes it the cache, with the owner and mode of the empty one that it replaces. */
int place_take(struct jw_error *err, const struct import *import, struct opaque_place *place);
