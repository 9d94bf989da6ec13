/* A copy of a file, some ranges of which are written over. It appears under its name when it is
 * whole. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "os/file.h"

struct baked_copy {
	char *output, *part;  /* where it will be, and where it is until then */
	struct os_file *file; /* NULL: not begun */
};

/* Copies all bytes of `from`; folders on the way to `output` are made. -1: what was begun is gone.
 * `from` is the caller's. JW_ERR_USAGE where `output` is the file that is copied. */
int baked_copy_begin(struct jw_error *err, const char *path, const struct os_map *from,
					 const char *output, struct baked_copy *ret_copy);
/* Syncs it, gives it `mode`, and moves it to its place. */
int baked_copy_finish(struct jw_error *err, struct baked_copy *copy, uint32_t mode);
/* Removes what is not finished; does nothing after baked_copy_finish. */
void baked_copy_drop(struct baked_copy *copy);
