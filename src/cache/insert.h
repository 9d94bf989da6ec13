#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cache/entry.h"
#include "cache/key.h"

/* Adding entries to a cache that drivers are using at this moment.
 *
 * At every instant, wherever this process is killed:
 *  - An entry is the old one or the new one: it is written beside the cache's tree and renamed.
 *  - No driver answers the index with a wipe: its rows are written first, after or over the old
 *    ones, then its header in one write of 16 bytes, so the file is always at least as long as its
 *    header says. The file itself is never replaced, since locks belong to it.
 *  - Files without rows may be left. Drivers use them and do not count them; the next insert does.
 *
 * The lock is the driver's own (F_SETLK on `index`, never waited for by the kernel) and is held for
 * CACHE_HOLD_MS at a time, then left free for as long: drivers give up after about 200 ms. A driver
 * writes the rest of the index *after* it has released the lock, and may undo rows that were added
 * meanwhile: each insert checks the rows of the ones before it, cache_live_close those of the last.
 *
 *     cache_live_open(err, dir, &options, &live);
 *     cache_insert(err, live, additions, count);   ... any number of times ...
 *     cache_live_close(err, live);
 */
enum {
	CACHE_HOLD_MS = 4,         /* a batch ends after holding the lock this long */
	CACHE_LOCK_WAIT_MS = 5000, /* default time for trying the lock */
};

enum cache_when_full {
	CACHE_FULL_REFUSE, /* do not evict entries of others: JW_ERR_LIMIT */
	CACHE_FULL_EVICT,  /* evict the oldest rows, as a driver's insert does; never rows added through
						  the same handle */
};

struct cache_live_options {
	/* jw_cache_info.limit_bytes: the limit of the driver that uses the cache. */
	uint64_t limit_bytes;
	enum cache_when_full when_full;
	unsigned lock_wait_ms; /* 0 stands for CACHE_LOCK_WAIT_MS */
	uint32_t new_mode;     /* the mode of a directory that is made; 0 stands for 0700 */
	/* The stamp of the driver that uses the cache; NULL or "" if any driver may. Entries of this
	 * driver that are evicted were warm and are cold afterwards (cache_live_counts). The string
	 * must outlive the handle. */
	const char *stamp;
};

struct cache_live;

/* Prepares to write to `dir`, and makes it if it is missing. If its group or others may enter the
 * directory, entries, folders and index get its permissions, whatever the umask, and the index is
 * writable for all who may read it (drivers open it for writing even for a look-up). Nothing else
 * changes before the first insert. Fails with one clear line if it is not a directory, cannot be
 * written to, or has a foreign index. */
int cache_live_open(struct jw_error *err, const char *dir, const struct cache_live_options *options,
					struct cache_live **ret_live);

/* Fails if permissions would make cache_live_open or cache_insert fail. Writes nothing. */
int cache_live_try(struct jw_error *err, const char *dir, const struct cache_live_options *options);

enum cache_added {
	CACHE_ADDED_NOT, /* not tried: cache_insert failed before, or there was no room */
	CACHE_ADDED_NEW,
	CACHE_ADDED_REPLACED, /* the entry replaced a file with this name */
	CACHE_ADDED_SAME,     /* the same bytes were there already */
	CACHE_ADDED_REFUSED,  /* unsound, or not the expected entry; `why` is the reason */
	/* A sound entry of another module has this name, and stays (cache_key_identity); `why` says so:
	 * the driver can keep only one of the two, and none is lost without a word. */
	CACHE_ADDED_TAKEN,
};

struct cache_part {
	const void *data;
	size_t size;
};

/* One entry to be added: a file that a worker's driver has made, or its bytes in memory. */
struct cache_addition {
	const char *path; /* NULL if `bytes` are used */
	const void *bytes;
	size_t size_bytes;
	/* If set, used instead of `bytes`: the parts in order, the first of which has at least a
	 * header. Only for a `verified` entry with key_bytes and nothing after its value. */
	const struct cache_part *parts;
	size_t part_count;
	uint64_t key;       /* the expected hash of the key, which is the name */
	uint64_t key_bytes; /* the expected length of its key, 0 if unknown */
	/* The expected module; NULL if unknown, which `parts` must not have. */
	const struct jw_identity *identity;
	uint16_t sm;              /* the expected GPU of its cubin */
	enum cache_key_form form; /* CACHE_KEY_LINK: a relocatable cubin */
	bool verified; /* the caller has hashed key and value and read the cubin of these bytes */
	/* cache_insert sets these: */
	enum cache_added added;
	uint64_t row_bytes;  /* the bytes that count against the limit */
	int64_t grown_bytes; /* the change of the counted bytes */
	struct jw_error why;
};

/* Adds the entries in order. The last one is evicted last, so the most valuable belongs there. Each
 * is verified before the lock is taken (name, checksum, the cubin's architecture and kind); an
 * unsound one is refused and does not stop the others. `added` is set for each, also if -1 is
 * returned: JW_ERR_BUSY (the lock was refused), JW_ERR_LIMIT (no room; the entries before it are
 * in), JW_ERR_NOT_FOUND (the directory or a folder in it was removed meanwhile: another call makes
 * it again), JW_ERR_UNSUPPORTED (an index of another version), JW_ERR_IO (disk full, permissions;
 * nothing is lost). */
int cache_insert(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
				 size_t count);

/* Sets the message about an entry that keeps its name. */
void cache_say_taken(struct jw_error *err, const char *path);

/* Protects this entry like an added one: it is not evicted to make room. */
void cache_keep(struct cache_live *live, uint64_t key);

/* The counts of one handle. */
struct cache_live_counts {
	size_t added, replaced, same, refused; /* `refused` includes CACHE_ADDED_TAKEN */
	int64_t grown_bytes;                   /* bytes added by inserted entries */
	size_t evicted;                        /* rows of others, with CACHE_FULL_EVICT */
	uint64_t evicted_bytes;
	size_t evicted_in_use; /* the evicted entries of the driver that uses the cache */
	size_t counted;        /* files without rows that got a row */
	/* Rows that were removed: rows without files, and second rows for the same file. */
	size_t dropped;
	size_t restored; /* rows that a driver's late write had removed */
	bool mended;     /* the index was unsound, or a size or the total in it was wrong */
	uint64_t longest_hold_ns, holds;
};
void cache_live_counts(const struct cache_live *live, struct cache_live_counts *ret_counts);

/* Restores the last rows if a driver removed them, and frees the handle in any case. `err` and the
 * result are about the rows. */
int cache_live_close(struct jw_error *err, struct cache_live *live);

/* Makes the index agree with the files: adds missing rows, drops rows without files, corrects the
 * total. The first cache_insert does this, too. */
int cache_repair(struct jw_error *err, struct cache_live *live);
