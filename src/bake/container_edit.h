/* Rewrites one container with machine code in it. Source: docs/fatbin.md, "Container", and
 * docs/bake.md. */
#pragma once

#include <stddef.h>

#include "devcode/devcode.h"
#include "devcode/write.h"

/* What was done to make room: the last measure that was needed, and each includes the former ones.
 */
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

/* Clears `out`, and writes as many bytes as the container has: its entries in order, the cubins,
 * its size, and zeros; `anywhere`: without these zeros. With CONTAINER_EDIT_NO_ROOM `out` is empty.
 * -1: out of memory, or the container is damaged (JW_ERR_FORMAT). */
int container_edit(struct jw_error *err, const struct container_edit *edit, struct buf *out,
				   enum container_edit_room *ret_room, size_t *ret_dropped);
