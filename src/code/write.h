/* Writes containers: minimal ones of one PTX entry, for the probe, the sample framework and tests;
 * and entries of containers that are rebuilt (bake/container_edit.h). */
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

/* One entry of machine code. Source: docs/internals/fatbin.md, "Container", and the output of nvcc
 * 12 and 13. */
struct write_cubin {
	struct devcode_view cubin; /* an ELF file (code/cubin.h) */
	struct jw_target target;   /* with the suffix of the PTX that it was compiled from */
	uint64_t flags;            /* the flags of the PTX's entry: word size and system are used */
	enum devcode_compression compression; /* any but DEVCODE_FOREIGN */
};
/* Appends only the entry. */
int write_cubin_entry(struct jw_error *err, const struct write_cubin *cubin, struct buf *out);

/* Appends an entry of `header_size` bytes, with its decompressed `payload` packed with LZ4, which
 * every driver reads. JW_ERR_LIMIT if it is too large for that. */
int write_packed_entry(struct jw_error *err, const uint8_t *header, size_t header_size,
					   struct devcode_view payload, struct buf *out);
