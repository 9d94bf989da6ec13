/* A tar archive that is written again with other contents of some files. All other bytes stay:
 * headers, their order, and what tools put into them. Source: POSIX.1-2017, pax, “ustar”; GNU tar's
 * manual for long names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { TAR_HEAD = 4096 };

struct tar_edit {
	void *context;
	/* The archive's next bytes, as many as asked for, fewer only at its end. */
	int (*read)(struct jw_error *err, void *context, uint8_t *to, size_t size, size_t *ret_got);
	/* The new archive's next bytes. NULL: none is written. */
	int (*write)(struct jw_error *err, void *context, const uint8_t *data, size_t size);
	/* Whether the file's content is taken by the next two; `head`: its first bytes. */
	bool (*wants)(void *context, const char *name, uint64_t size_bytes, const uint8_t *head,
				  size_t head_size);
	int (*take)(struct jw_error *err, void *context, const uint8_t *data, size_t size);
	/* After all of the content: what is written instead, as long as it is valid until the next
	 * call. */
	int (*taken)(struct jw_error *err, void *context, const char *name, const uint8_t **ret_data,
				 uint64_t *ret_size_bytes);
	/* A hard link to a file before it. */
	int (*link)(struct jw_error *err, void *context, const char *name, const char *to);
};

int tar_edit(struct jw_error *err, const struct tar_edit *edit);
