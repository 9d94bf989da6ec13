/* Adds machine code to a container. Source: docs/internals/fatbin.md, "Container", and docs/internals/bake.md */
#pragma once

#include <stddef.h>

#include "code/devcode.h"
#include "code/write.h"

/* The new container: its header, and entries that are packed anew or still in the old one. */
struct container_form {
	struct container_part {
		const uint8_t *bytes;
		size_t size_bytes;
		struct buf packed; /* owns the bytes, if not empty */
	} * parts;             /* in order */
	size_t count;
	uint64_t size_bytes; /* with the header: without room, more than the old one has */
	uint8_t header[16];
};

/* The entries of a sound container of a fat binary, with all of its bytes, in order, and the
 * cubins: all of them, and each raw entry packed, until they have room. The caller frees *ret_form.
 * JW_ERR_FORMAT: the container is damaged. */
int container_edit(struct jw_error *err, const struct devcode_container *container,
				   const struct write_cubin *cubins, size_t cubin_count,
				   struct container_form *ret_form);
/* Appends all bytes to `out`. */
int container_form_join(struct jw_error *err, const struct container_form *form, struct buf *out);
void container_form_free(struct container_form *form);
