/* A cubin's own header: an ELF64 file for a GPU. Source: docs/internals/fatbin.md, "Cubin". Only
 * cubin_is, cubin_read and cubin_scope take bytes that may change (os/file.h, os_map);
 * a payload (devcode_payload) does not. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "code/devcode.h"

enum { CUBIN_MACHINE = 190 }; /* EM_CUDA */

/* The layout of the flags, which a driver must know to load the file. */
enum cubin_abi {
	CUBIN_ABI_7, /* OSABI 0x33, version 7: CUDA 12 and older, below sm_100 */
	CUBIN_ABI_8, /* OSABI 0x41, version 8: sm_100 and newer since CUDA 12.8, all since 13.0 */
};

struct cubin_header {
	enum cubin_abi abi;
	uint16_t sm;    /* compute capability without its dot, and without `a` or `f` */
	bool exclusive; /* `a`: runs on that capability alone */
	bool cuda_13;   /* CUDA 13 or newer wrote it; known for sm_90 and newer */
	bool relocatable;
	uint64_t size_bytes; /* up to the end of its last table or section */
};

/* Returns whether the bytes begin like a cubin; 20 bytes are enough. */
bool cubin_is(const void *data, size_t size);

/* Returns the CUDA version (12080) of the first driver that loads a cubin with this beginning; 0 if
 * every driver does. CUBIN_HEAD bytes are sufficient; if `size` is less, `abi` and `sm` decide.
 * Source: docs/internals/driver-cache.md, "Machine code that a driver refuses". */
enum { CUBIN_HEAD = 24 };
uint32_t cubin_cuda(const void *head, size_t size, unsigned abi, uint16_t sm);

/* Returns the CUDA version (12020) of the compiler that wrote a cubin; for ABI 8, that of the first
 * compiler that wrote it for such a GPU; 0 for an old compiler, which does not record it. */
uint32_t cubin_compiler(struct devcode_view cubin, uint16_t sm);

/* Reads and checks the header: JW_ERR_FORMAT if this is not a cubin or its tables and sections
 * leave the `size` bytes, JW_ERR_UNSUPPORTED for a cubin with an unknown ABI. */
int cubin_read(struct jw_error *err, const void *data, size_t size,
			   struct cubin_header *ret_header);

/* Reads and checks the header of a cubin that is not in memory: `read` fetches headers and tables
 * within `size`. */
typedef int (*cubin_read_fn)(struct jw_error *err, void *context, uint64_t offset, void *data,
							 size_t size);
int cubin_read_by(struct jw_error *err, cubin_read_fn read, void *context, uint64_t size,
				  struct cubin_header *ret_header);

/* Returns the section .nv.compat, which entries of cubins for sm_100 and newer repeat; size 0 if
 * the cubin has none or is not sound. */
enum { CUBIN_MAX_COMPAT = 256 };
struct devcode_view cubin_compat(struct devcode_view cubin);

/* The GPUs that the cubin is for, according to .nv.compat. */
enum cubin_scope {
	CUBIN_SCOPE_UNSTATED, /* not stated: CUDA 12 wrote it */
	CUBIN_SCOPE_MANY,
	CUBIN_SCOPE_ONE, /* one capability alone: `a` */
};
enum cubin_scope cubin_scope(struct devcode_view compat);

/* The names of a cubin that a program could use. */
enum { CUBIN_NAMES = 4 };
struct cubin_symbols {
	bool any;                       /* the cubin has at least one */
	const char *names[CUBIN_NAMES]; /* the names of the first kernels, in the cubin */
	uint64_t *kernels;              /* sorted hashes of their names */
	size_t count, capacity;
	uint64_t read_bytes;
};
/* Reads the symbols; the caller frees them (cubin_symbols_free), and keeps the cubin while it uses
 * `names`. Errors as for cubin_read; JW_ERR_LIMIT for too many. */
int cubin_symbols_read(struct jw_error *err, struct devcode_view cubin,
					   struct cubin_symbols *ret_symbols);
void cubin_symbols_free(struct cubin_symbols *symbols);
