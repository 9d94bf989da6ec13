/* Adds machine code to a container. Source: docs/internals/fatbin.md, "Container", and
 * docs/internals/bake.md. */
#pragma once

#include <stddef.h>

#include "code/devcode.h"
#include "code/write.h"

/* The new container: its header, and entries that are packed anew or still in the old container. */
struct container_form {
	struct container_part {
		const uint8_t *bytes;
		size_t size_bytes;
		struct buf packed; /* holds the bytes, if not empty */
	} * parts;             /* in their order */
	size_t count;
	uint64_t size_bytes; /* the size with the header; more than the old one's if it does not fit */
	uint8_t header[16];
};

/* Makes a form from the entries of a sound container of a fat binary, with all of its bytes, in
 * order, and the cubins: all of them, with raw entries packed until the form fits. The caller frees
 * *ret_form. JW_ERR_FORMAT if the container is damaged. */
int container_edit(struct jw_error *err, const struct devcode_container *container,
				   const struct write_cubin *cubins, size_t cubin_count,
				   struct container_form *ret_form);
/* Appends all bytes of the form to `out`. */
int container_form_join(struct jw_error *err, const struct container_form *form, struct buf *out);
void container_form_free(struct container_form *form);
