/* A copy of a file, in which some ranges are overwritten. It appears by its name when it is
 * complete. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "bake/baked_changes.h"
#include "os/file.h"

struct baked_copy {
	char *output, *part;  /* its final path, and its path until then */
	struct os_file *file; /* NULL: not begun */
	const char *path;     /* of the original, which the caller keeps */
	const struct os_map *from;
	struct jw_driver loads_from;  /* of the baked code, for the journal; zeros: none was added */
	struct baked_changes changes; /* by baked_copy_write; valid until baked_copy_drop */
	bool whole;           /* the original's bytes are in it; else those that stay come at the end */
	bool complete;        /* by baked_copy_complete: any byte may be written again */
	uint64_t written_end; /* of what was written within the original's size */
	uint64_t settled;     /* before this each byte is in it, by baked_copy_settle */
};

/* Begins a copy of `path`, which is mapped as `from`, and which the caller keeps open, and makes
 * missing folders of `output`. -1: removes what it began. JW_ERR_USAGE if `output` is the copied
 * file. */
int baked_copy_begin(struct jw_error *err, const char *path, const struct os_map *from,
					 const char *output, struct baked_copy *ret_copy);
/* The same for a copy that will replace a file: its path until then begins with `prefix`. `from`
 * may be NULL. */
int baked_copy_begin_beside(struct jw_error *err, const char *prefix, const struct os_map *from,
							const char *output, struct baked_copy *ret_copy);
/* Overwrites a range, or appends one: all that is not the original's is written by this. Until the
 * copy is complete, no range gets the original's bytes back. */
int baked_copy_write(struct jw_error *err, struct baked_copy *copy, uint64_t offset,
					 const void *data, size_t size);
/* The same with zeros. */
int baked_copy_clear(struct jw_error *err, struct baked_copy *copy, uint64_t offset, uint64_t size);
/* Nothing more is to come before `until`, but for small changes: fills in the original's bytes
 * there, a good piece at once, and has them written to disk while the rest is made. */
int baked_copy_settle(struct jw_error *err, struct baked_copy *copy, uint64_t until);
/* Fills in the original's bytes where nothing was written: the file has all of its bytes then. More
 * may be written afterwards. */
int baked_copy_complete(struct jw_error *err, struct baked_copy *copy);
/* Completes it. Refuses if the original was changed meanwhile (JW_ERR_IO). Syncs the copy, gives it
 * `mode`, and moves it to its place. */
int baked_copy_finish(struct jw_error *err, struct baked_copy *copy, uint32_t mode);
/* Whether the file at copy->path is still the one that was mapped then (JW_ERR_IO). */
int baked_copy_check(struct jw_error *err, const struct baked_copy *copy,
					 const struct os_stat *before);
/* Removes an unfinished copy; does nothing after baked_copy_finish. */
void baked_copy_drop(struct baked_copy *copy);
