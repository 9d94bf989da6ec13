/* Writes minimal containers of one PTX entry, for the probe, the sample framework and tests. */
#pragma once

#include "code/devcode.h"

struct write_ptx {
	/* The payload that a reader returns. nvcc ends it with one NUL, which counts. A raw payload is
	 * padded with NULs to a multiple of eight bytes, as by nvcc; a reader returns all of them
	 * except the last (see devcode_payload). */
	const void *payload;
	size_t payload_size;
	uint16_t isa_major, isa_minor;
	struct jw_target target;
	const char *options; /* NULL or "" for no options; the entry has the field nevertheless, since
							libcuda needs it */
	enum devcode_compression compression; /* any but DEVCODE_FOREIGN */
	uint32_t kind;                        /* 0 stands for DEVCODE_KIND_PTX */
};

/* Appends one container, header and entry, to `out`. The same input gives the same bytes for one
 * version of the compression libraries. */
int write_container(struct jw_error *err, const struct write_ptx *ptx, struct buf *out);
