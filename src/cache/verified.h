/* Entries that were read and found sound, so that they need not be read again. After a power loss,
 * a file that was written shortly before it may hold other bytes under the same size and times;
 * such files are not “settled”. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "cache/entry.h"
#include "cache/sound.h"

/* Returns whether a file that was last changed at `changed_s` is certainly on the disk at `now_s`,
 * both in seconds since 1970. */
bool settled_is(int64_t changed_s, int64_t now_s);

/* Returns when this system was started, in seconds since 1970; later by as much as the machine
 * slept. */
uint64_t settled_boot_s(void);
/* Returns whether two results of settled_boot_s belong to one start, although the clock may have
 * been adjusted. */
bool settled_same_boot(uint64_t a, uint64_t b);

/* Each entry is remembered by its name, identity (cache/key.h), inode, size and times. The caller
 * has seen a sound header (cache/entry.h); what is not remembered is hashed now (cache/sound.h), by
 * several threads.
 *
 * One file in the state directory for each cache directory. It is a memory, no truth: a missing,
 * damaged or foreign one is empty, and of two processes that write at once one's additions are
 * lost.
 *
 *     file    "JWVER" 0 u16 version   u64 boot (when this system started, in seconds)   u32 records
 *             record…   u64 FNV-1a-64 of all before it            little endian
 *     record  u64 key   u64 mark (a BLAKE2b of identity, inode, size and times; bit 0: settled)
 *             by key
 *
 * Version 1 had no identity in its marks.
 *
 * A file that was written in the last two seconds is not remembered, since it could change again
 * without a change of its times. One that was written in the last quarter of an hour may not be on
 * the disk, and have another content under the same times after a power loss: it is not settled,
 * and remembered until the system is started again */
enum { CACHE_VERIFIED_MAX = 1 << 18 };

struct cache_verified_record {
	uint64_t key, mark;
};

struct cache_verified {
	struct cache_verified_record *records; /* sorted by key */
	size_t count, capacity;
};

struct cache_candidate {
	uint64_t key;
	const struct jw_identity *identity; /* the module whose entry it must be; NULL for any */
	struct cache_probed probed;         /* only the facts of a sound entry are remembered */
	enum cache_damage damage;           /* set by the call */
	enum jw_cache_kind kind;            /* set by the call for a sound entry that was read */
};

/* Judges all candidates, and remembers those that are sound. With a NULL `state_dir` all are read.
 * JW_ERR_INTERRUPTED if cancelled. */
int cache_verified_judge(struct jw_error *err, const char *state_dir, const char *cache_dir,
						 struct sound_driver driver, const struct jw_cancel *cancel,
						 struct cache_candidate *candidates, size_t count);

/* Parses the bytes of such a file, which may be hostile; `boot_s` is this system's. *ret_verified
 * has no records if the file is damaged. */
void cache_verified_parse(const void *data, size_t size, uint64_t boot_s,
						  struct cache_verified *ret_verified);
void cache_verified_free(struct cache_verified *verified);
