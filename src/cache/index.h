/* The index: it records what the driver counts against its limit, and the order of eviction.
 * Source: docs/internals/driver-cache.md, "Files"; soundness was measured on drivers 535.309.01 and
 * 550.163.01.
 *
 *     index = u32 version (0x41) · u32 count · u64 total · count × row · anything
 *     row   = u64 FNV-1a-64(key) · u64 size (key and value, without the entry's header)
 *
 * First row, first out. The driver never shortens the file and never reads after the rows that the
 * header counts, so old rows may remain there. It adds stored bytes to the total, subtracts evicted
 * ones, and never compares the total with the rows: a wrong total stays wrong. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct os_file;

enum {
	CACHE_INDEX_HEADER = 16,
	CACHE_ROW_SIZE = 16,
	CACHE_MAX_ROWS = 4 << 20, /* 64 MiB of index: four million entries in at most 4 GiB */
};

/* The state of the index from the driver's view. With an unsound index, its next insert deletes
 * every entry and begins a new index; with a truncated one, its next look-up does.
 * docs/internals/driver-cache.md, "The index", describes the states that are not files. */
enum cache_index_state {
	CACHE_INDEX_SOUND,
	CACHE_INDEX_MISSING,
	CACHE_INDEX_EMPTY,     /* 0 bytes */
	CACHE_INDEX_TRUNCATED, /* fewer rows than its header counts; it looks the same while a driver's
							  insert writes it */
	CACHE_INDEX_VERSION,   /* not 0x41: another version or not an index; a truncated header */
	CACHE_INDEX_DEVICE,    /* entries are used, and each insert deletes the others */
	CACHE_INDEX_PIPE,      /* the program hangs at its first look-up */
	CACHE_INDEX_CLOSED,    /* a directory, a socket, a dangling link: entries are neither used nor
							  stored */
};
/* "sound", "missing", ... */
const char *cache_index_state_name(enum cache_index_state state);

struct cache_row {
	uint64_t key, size_bytes;
};

struct cache_index {
	enum cache_index_state state;
	struct cache_row *rows; /* if truncated: the rows that are present */
	size_t count, capacity;
	uint64_t total_bytes; /* according to the header */
	bool alien; /* no driver's index begins like this, whole, damaged or zeroed: another program's
				   file, such as Git's index */
	uint8_t unknown_version; /* 0 if jitwarm knows it, or if the file is no index */
};

/* Reads what a driver reads: the header and the rows that it counts, at most CACHE_MAX_ROWS. Bytes
 * after these rows do no harm, however many there are. Replaces the content. */
int cache_index_read(struct jw_error *err, struct os_file *file, struct buf *content);
/* Parses an index; any bytes result in a `state`. An index of more than CACHE_MAX_ROWS rows counts
 * as truncated. The caller frees it. */
void cache_index_parse(const void *data, size_t size, struct cache_index *ret_index);
/* Reads the index file of a cache directory without locking it, for reports. A missing index is
 * CACHE_INDEX_MISSING; anything but a file is not opened. */
int cache_index_load(struct jw_error *err, const char *dir, struct cache_index *ret_index);
void cache_index_free(struct cache_index *index);

/* Returns the sum of the rows' sizes; UINT64_MAX if it overflows. */
uint64_t cache_index_rows_total(const struct cache_index *index);

/* The driver's reaction when it next stores an entry. */
enum cache_next_insert {
	CACHE_NEXT_ADDS,        /* evicts old entries if the limit requires it */
	CACHE_NEXT_EVICTS_SOON, /* the total counts bytes without a row: entries are evicted before the
							   limit is reached */
	CACHE_NEXT_EVICTS, /* the rows exceed the limit, which was larger before: old entries go until
						  the new one fits */
	CACHE_NEXT_EVICTS_ALL, /* bytes without a row exceed the limit: each insert evicts every entry
							  and stores nothing */
	CACHE_NEXT_WIPES,      /* the index is unsound: every entry is deleted */
	CACHE_NEXT_NOTHING,    /* the index cannot be opened: nothing is read or stored */
	CACHE_NEXT_HANGS,
};
enum cache_next_insert cache_index_next(const struct cache_index *index, uint64_t limit_bytes);
