/* Rewrites a container with machine code. Source: docs/fatbin.md, "Container", and docs/bake.md */
#pragma once

#include <stddef.h>

#include "devcode/devcode.h"
#include "devcode/write.h"

/* What was done to make room: the last measure that was needed; each includes the former ones */
enum container_edit_room {
	CONTAINER_EDIT_COMPRESSED,  /* payloads are compressed, or compressed better */
	CONTAINER_EDIT_DROPPED,     /* machine code that none of the GPUs runs is left out */
	CONTAINER_EDIT_WITHOUT_PTX, /* PTX is left out, where edit.drop_ptx allows it */
	CONTAINER_EDIT_NO_ROOM,
};

struct container_edit {
	const struct devcode_container *container; /* with all of its bytes, sound, in a fat binary */
	const struct write_cubin *cubins;          /* to be added, with any compression */
	size_t cubin_count;
	const struct jw_target *gpus; /* that the file is for */
	size_t gpu_count;
	const struct jw_target *kept; /* GPUs whose machine code stays too */
	size_t kept_count;
	bool drop_ptx; /* PTX may be dropped: each of the GPUs has machine code in this container */
	bool zstd;     /* every driver that it is for reads zstd: used where LZ4 is too large */
	bool must_fit; /* it cannot get another place: nothing is left untried */
	bool anywhere; /* it gets another place: nothing is dropped, and it may have any size, which is
					  kept small: with LZ4, which every driver reads */
	bool smallest; /* then: with zstd, if that may be used */
};

/* The new container: its header, and entries that are packed anew or still in the old one. */
struct container_form {
	enum container_edit_room room;
	size_t dropped;
	struct container_part {
		const uint8_t *bytes;
		size_t size_bytes;
		struct buf packed; /* owns the bytes, if not empty */
	} * parts;             /* in order; with CONTAINER_EDIT_NO_ROOM none */
	size_t count;
	uint64_t size_bytes; /* with the header: at most as many as the container has, or `anywhere` */
	uint8_t header[16];
};

/* Its entries in order, and the cubins. The caller frees *ret_form. -1: out of memory, or the
 * container is damaged (JW_ERR_FORMAT). */
int container_edit(struct jw_error *err, const struct container_edit *edit,
				   struct container_form *ret_form);
/* Appends all bytes to `out`. */
int container_form_join(struct jw_error *err, const struct container_form *form, struct buf *out);
void container_form_free(struct container_form *form);
