#pragma once

#include <uv.h>

#include "base/buf.h"
#include "base/set.h"
#include "cache/index.h"
#include "cache/insert.h"
#include "cache/view.h"
#include "os/file.h"

/* The parts of cache/insert.h share these: the handle, its lock, and the index under it. */

/* The longest time that a driver writes after unlocking. */
enum { LIVE_LATE_WRITE_MS = 20 };

/* An entry that was added through this handle. */
struct live_own {
	uint64_t key, row_bytes;
	uint64_t added_ns; /* by os_monotonic_ns */
};

/* The state of index.rows. */
struct live_rows {
	struct buf image, fresh; /* the file's bytes at the last hold, and at this hold */
	bool known;              /* the rows are those of `image` */
	struct set places;       /* each key's last position in index.rows */
	uint64_t bytes;          /* the sum of the rows that are not gone */
	size_t gone;             /* the number of gone rows */
	size_t written;  /* the number of index.rows, including gone ones, that are in the file */
	size_t in_image; /* the number of rows in `image` */
	bool moved;      /* a row of `image` is gone or has another size */
	size_t oldest;   /* no row before this position can be evicted */
	size_t repeated; /* duplicate rows of a key, not counted yet */
};

struct cache_live {
	char *dir, *index_path;
	char *staging;            /* the folder beside the tree, made when the first file is staged */
	uv_mutex_t staging_mutex; /* held while the folder is made */
	struct os_file *staging_lock; /* the lock of a running process (os/claimed.h) */
	struct cache_live_options options;
	struct cache_live_counts counts;
	size_t outcomes[CACHE_ADDED_TAKEN + 1]; /* the number of additions for each enum cache_added */
	bool repaired;                          /* all files and rows have been compared */
	uint32_t shared; /* the directory's permission bits for its group and others, 0 if they may not
						enter */
	uint64_t released_ns; /* when the lock was last released */

	struct live_own *own;
	size_t own_count, own_capacity;
	struct set own_keys;

	/* Kept from one hold of the lock to the next: */
	struct cache_index index; /* including the rows that are gone */
	struct live_rows rows;
	bool undone; /* another process has written to the index, so our rows may be missing */
	uint64_t undone_since_ns; /* if `undone`: when the lock had last been released before */

	/* While the lock is held: */
	struct os_file *file;
	bool created; /* the file did not exist, so no other process is writing it */
	bool others;  /* another process has written to the index since the last hold */
	uint64_t held_since_ns;
	bool changed;
};

/* Marks a removed row, which stays in place so that positions stay valid. */
#define LIVE_GONE UINT64_MAX

/* Takes the lock and reads the index; waits for an index that is being written. If others have
 * written to a large index, it is parsed between two holds. JW_ERR_BUSY, JW_ERR_UNSUPPORTED for an
 * index of another version. */
int live_lock(struct jw_error *err, struct cache_live *live);
/* Takes the lock, and repairs the index first if it is unsound. */
int live_lock_sound(struct jw_error *err, struct cache_live *live);
/* Writes the index if it has changed, then releases the lock in any case. */
int live_unlock(struct jw_error *err, struct cache_live *live);
/* Releases the lock; the index stays unchanged. */
void live_abandon(struct cache_live *live);
/* Returns whether the lock was held for the maximum time. */
bool live_must_let_go(const struct cache_live *live);

/* Returns the position of a key's row, or SET_NONE. */
size_t live_row(const struct cache_live *live, uint64_t key);
void live_drop_row(struct cache_live *live, size_t at);
void live_resize_row(struct cache_live *live, size_t at, uint64_t row_bytes);
/* Appends a row and removes the former one of its key. */
int live_put_row(struct jw_error *err, struct cache_live *live, uint64_t key, uint64_t row_bytes);

/* Reads the file under the lock. If the bytes differ from those of the last hold, the rows become
 * unknown. */
int live_rows_read(struct jw_error *err, struct cache_live *live);
/* Parses the bytes that were read. JW_ERR_UNSUPPORTED for an index of another version. */
int live_rows_parse(struct jw_error *err, struct cache_live *live);
/* Frees the rows at the end of a handle. */
void live_rows_free(struct cache_live *live);
