/* Writes minimal containers with one PTX entry each. For the probe, the sample framework and tests.
 */
#pragma once

#include "devcode/devcode.h"

struct write_ptx {
	/* The payload that reading returns. nvcc ends it with one NUL, which counts. A raw payload is
	 * padded with NULs to a multiple of eight bytes, as by nvcc; reading returns all of them but
	 * the last (see devcode_payload). */
	const void *payload;
	size_t payload_size;
	uint16_t isa_major, isa_minor;
	struct jw_target target;
	const char *options; /* NULL or "": no options; the entry has the field nevertheless, since
							libcuda needs it */
	enum devcode_compression compression; /* not DEVCODE_FOREIGN */
	uint32_t kind;                        /* 0: DEVCODE_KIND_PTX */
};

/* Appends one container, header and entry, to `out`. The same input gives the same bytes for one
 * version of the compression libraries. */
int write_container(struct jw_error *err, const struct write_ptx *ptx, struct buf *out);
