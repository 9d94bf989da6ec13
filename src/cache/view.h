/* Walks a cache directory: lists the files that are entries by place and name, and counts the
 * others. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/set.h"
#include "cache/entry.h"
#include "cache/index.h"

/* Drivers never make a cache with more files than this (4 GiB at most). */
enum { CACHE_MAX_FILES = 4 << 20 };

struct cache_file {
	uint64_t key;
	uint64_t row_bytes; /* key and value according to the header; 0 if damaged */
	struct cache_probed probed;
};

struct cache_files {
	struct cache_file *files; /* sorted by key */
	size_t count, capacity;
	size_t foreign; /* the number of files and folders that do not belong to a cache, except `index`
					   and jitwarm's own folders */
};

/* Lists the entries. With `headers`, reads the header of each; otherwise no file is opened, and
 * `probed` has only sizes and times, and CACHE_DAMAGE_READ for anything but a file.
 * JW_ERR_NOT_FOUND if there is no such directory; JW_ERR_INTERRUPTED if `cancel`, which may be
 * NULL, asks for it. The caller frees the list. */
int cache_files_scan(struct jw_error *err, const char *dir, bool headers,
					 const struct jw_cancel *cancel, struct cache_files *ret_scan);
void cache_files_free(struct cache_files *scan);
/* Returns the bytes that count against the limit, by a file's size alone; 0 for anything but an
 * entry's file. */
uint64_t cache_file_counts(const struct cache_file *file);
/* Reads the whole key of a sound entry. False if it can no longer be read. */
bool cache_file_key(const char *dir, const struct cache_file *file, struct buf *key);
/* Finds the file of a key; NULL if there is none. */
const struct cache_file *cache_files_find(const struct cache_files *scan, uint64_t key);

/* The name of the folder for files before they are renamed into the tree. It lies beside the tree,
 * since a wipe visits only the tree's folders (measured: names at the top are left alone). */
#define CACHE_STAGING_PREFIX ".jitwarm-"

/* A cache directory for verify and list: its files and its index at one moment, without the lock.
 * If a driver inserts meanwhile, the two may differ by the entry that it adds. */
struct cache_view {
	char *path;
	uint64_t limit_bytes;
	struct cache_files files;
	struct cache_index index;
};

/* Returns whether the folder is another program's: it has that program's file `index`, as .git has,
 * and no entries. An index that cannot be a driver's, beside entries, is damaged. */
bool cache_is_alien(const char *dir);
/* Finds and reads the directory that `options` name; a missing live cache is empty. With `headers`,
 * reads every entry's header (cache_files_scan). The caller frees it. */
int cache_view_open(struct jw_error *err, const struct jw_cache_options *options, bool headers,
					struct cache_view *ret_view);
void cache_view_free(struct cache_view *view);

/* Reads only the index; waits some milliseconds for an index that is being written. The caller
 * frees it with cache_index_free. */
int cache_view_index(struct jw_error *err, const char *dir, struct cache_index *ret_index);

/* Maps each row's key to its position; the first row of a key is found first. The caller frees
 * it. */
struct set cache_index_map(const struct cache_index *index);
