/* A cache's folders tell how its entries were lost. Measured on ten drivers, 460 to 555
 * (docs/driver-cache.md, "What a loss leaves behind"):
 *
 *     eviction                        index and folders stay the files that they were
 *     wipe by a look-up, which finds  index and the sixteen folders are new; the cache's own folder
 *     an index half written           and what else is in it stay
 *     wipe by an insert, which finds  the folders are new; the index stays
 *     another broken index
 *     removal of the cache            its own folder is new
 *     emptying by hand                index and folders are new, and all else in it is gone
 *
 * So a folder that jitwarm makes in the cache is a witness: drivers leave it, and emptying the
 * cache by hand deletes it. jw_cache_forget removes it.
 */
#pragma once

#include <stdint.h>

/* The witness, a folder with nothing in it. */
#define CACHE_WITNESS "jitwarm"

/* The state of a cache at one moment. Identities are from os_identity. */
enum { CACHE_PARTS = 16 };
struct cache_shape {
	uint64_t folder, index, witness;
	uint64_t parts[CACHE_PARTS]; /* the folders 0 to f */
};

/* Never fails: a missing or unreadable folder is 0 or OS_UNIDENTIFIED. */
void cache_shape_take(const char *dir, struct cache_shape *ret_shape);
/* Makes the witness, if the cache's folder exists and is writable. `shared`: the accounts that use
 * it, bits of 055: an account that copies a shared cache has to enter each of its folders. */
void cache_shape_leave_witness(const char *dir, uint32_t shared);

/* How a cache has lost all entries since an earlier moment. */
enum cache_loss {
	CACHE_LOSS_NONE,     /* no common loss: entries disappeared one by one */
	CACHE_LOSS_WIPED,    /* a driver has wiped them */
	CACHE_LOSS_EMPTIED,  /* the folder was emptied by hand */
	CACHE_LOSS_REPLACED, /* the folder is gone, or was replaced */
	CACHE_LOSS_UNSURE,   /* they are gone; the cause is unknown */
	CACHE_LOSS_INDEX,    /* a driver's insert deleted them: the index was missing or damaged */
	CACHE_LOSS_UNKNOWN,  /* the file system has no file identities */
};
enum cache_loss cache_shape_compare(const struct cache_shape *before,
									const struct cache_shape *now);
