/* The compiler that needs no GPU: NVIDIA's ptxas. The ptxas of a driver's own CUDA minor version
 * makes the same bytes as the driver's JIT (measured: docs/internals/driver-cache.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"

enum { PTXAS_MAX_LOG = 1 << 20, PTXAS_MAX_CUBIN = 1 << 30 };

/* Finds the CUDA version of a ptxas (1000 * major + 10 * minor), from its --version.
 * JW_ERR_UNSUPPORTED if it is not a ptxas. */
int ptxas_version(struct jw_error *err, const char *program, uint32_t *ret_cuda);

struct ptxas_job {
	const char *program;
	const char *folder;      /* for temporary files */
	struct jw_target target; /* the architecture to compile for (gpu_jit_target) */
	bool link;               /* compile an input of run-time linking */
	const char *options; /* the PTX entry's options, verbatim, NUL-terminated; the caller has asked
							ptxas_option_with_file */
	const void *ptx;     /* the PTX text, without the NULs at its end */
	size_t ptx_bytes;
};

struct ptxas_outcome {
	bool refused;        /* ptxas refused the text; `log` has the reason */
	char error[128];     /* "ptxas ended with status 255", "" on success */
	uint64_t peak_bytes; /* ptxas's peak resident memory */
	double cpu_ms;       /* ptxas's processor time */
};

/* Finds the first word of an option string (words and blanks) that may name a file, which ptxas and
 * the driver's compiler would read or write; NULL if there is none. *ret_length may be NULL. */
const char *ptxas_option_with_file(const char *options, size_t *ret_length);

/* Compiles; -1 if that was not tried. The caller frees log and cubin. */
int ptxas_compile(struct jw_error *err, const struct ptxas_job *job,
				  struct ptxas_outcome *ret_outcome, struct buf *log, struct buf *cubin);
