/* A copy of a file, with some ranges overwritten. It gets its name when it is complete. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "os/file.h"

struct baked_copy {
	char *output, *part;  /* its final path, and its path until then */
	struct os_file *file; /* NULL before the copy begins */
	const char *path;     /* the original's path, which the caller keeps */
	const struct os_map *from;
	uint64_t size_bytes;
};

/* Begins a copy of `path`, which is mapped as `from`, and which the caller keeps open, and makes
 * missing folders of `output`. The copy shares the original's blocks if the file system can do
 * that. On failure, removes what it began. JW_ERR_USAGE if `output` is the copied file.
 * JW_ERR_INTERRUPTED if cancelled. */
int baked_copy_begin(struct jw_error *err, const char *path, const struct os_map *from,
					 const char *output, const struct jw_cancel *cancel,
					 struct baked_copy *ret_copy);
/* Overwrites a range, or appends one. */
int baked_copy_write(struct jw_error *err, struct baked_copy *copy, uint64_t offset,
					 const void *data, size_t size);
/* Overwrites a range with zeros. */
int baked_copy_clear(struct jw_error *err, struct baked_copy *copy, uint64_t offset, uint64_t size);
/* Completes the copy. Refuses if the original was changed meanwhile (JW_ERR_IO). Syncs the copy,
 * gives it `mode` less the umask, and moves it to its place. */
int baked_copy_finish(struct jw_error *err, struct baked_copy *copy, uint32_t mode);
/* Fails with JW_ERR_IO if the file is no longer the one that was mapped. */
int baked_copy_check(struct jw_error *err, const char *path, const struct os_stat *before);
/* Returns the identity of the file, or a hash of its path if the system does not identify files; 0
 * if there is no file. */
uint64_t baked_copy_identity(const char *path);
/* Removes an unfinished copy; does nothing after baked_copy_finish. */
void baked_copy_drop(struct baked_copy *copy);
