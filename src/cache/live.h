/* Between the parts of cache/insert.h: the handle, its lock, and the index under it. */
#pragma once

#include "base/set.h"
#include "cache/cache_files.h"
#include "cache/index.h"
#include "cache/insert.h"
#include "os/file.h"
#include "os/identity.h"

/* The longest time that a driver takes to write after unlocking. */
enum { LIVE_LATE_WRITE_MS = 20 };

/* An entry that was added through this handle. */
struct live_own {
	uint64_t key, row_bytes;
	uint64_t added_ns; /* os_monotonic_ns */
};

struct cache_live {
	char *dir, *index_path;
	char *staging; /* the folder beside the tree, made when the first file is staged */
	char *witness; /* cache/shape.h */
	struct cache_live_options options;
	struct cache_live_counts counts;
	size_t outcomes[CACHE_ADDED_REFUSED + 1]; /* of additions: enum cache_added */
	bool repaired;                            /* files and rows were compared, all of them */
	uint32_t shared; /* permission bits of the directory for its group and others, 0 if they may not
						enter */
	uint64_t released_ns; /* when the lock was last released */
	bool takes_none;      /* workers' files cannot be moved into it: they are copied */
	bool as_owner;        /* an administrator writes for another account, and with its rights */
	uint32_t owner, group;

	struct live_own *own;
	size_t own_count, own_capacity;
	struct set own_keys;

	/* While the lock is held: */
	struct os_file *file;
	bool created; /* the file was not there: no other process is writing it */
	uint64_t held_since_ns;
	struct cache_index index;
	struct set rows;     /* key → position in index.rows */
	uint64_t rows_bytes; /* sum of the rows that are not gone */
	bool changed;
};

/* A row that is taken out stays at its place until the index is written, so that positions hold. */
#define LIVE_GONE UINT64_MAX

/* Whose rights those are: as_owner. */
int live_choose_account(struct jw_error *err, struct cache_live *live);
/* If as_owner is set, all changes to the directory are made between this and os_act_as_self. */
int live_enter(struct jw_error *err, const struct cache_live *live);

/* Whether an insert may write to the directory; nothing is made. */
int live_may_write(struct jw_error *err, struct cache_live *live);

/* Takes the lock and reads the index; one that is being written is given time. JW_ERR_BUSY,
 * JW_ERR_UNSUPPORTED for an index of another version. */
int live_lock(struct jw_error *err, struct cache_live *live);
/* The same with an index that is sound: one that is not is repaired first. */
int live_lock_sound(struct jw_error *err, struct cache_live *live);
/* Writes the index if it has changed, then releases the lock in any case. */
int live_unlock(struct jw_error *err, struct cache_live *live);
/* Releases the lock; the index stays as it was. */
void live_abandon(struct cache_live *live);
/* Whether the lock has been held for as long as it may be. */
bool live_must_let_go(const struct cache_live *live);

/* The position of a key's row, SET_NONE if it has no row. */
size_t live_row(const struct cache_live *live, uint64_t key);
void live_drop_row(struct cache_live *live, size_t at);
/* Appends a row and removes the former one of its key. */
int live_put_row(struct jw_error *err, struct cache_live *live, uint64_t key, uint64_t row_bytes);

/* cache_repair, with the rights of the cache: one hold of the lock, which may not suffice
 * (live->repaired). */
int live_repair(struct jw_error *err, struct cache_live *live);
