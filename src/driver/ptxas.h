/* The back end that needs no GPU: NVIDIA's ptxas. The one of a driver's own CUDA minor version
 * makes the same bytes as the driver's JIT (measured: docs/internals/driver-cache.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"

enum { PTXAS_MAX_LOG = 1 << 20, PTXAS_MAX_CUBIN = 1 << 30 };

/* The CUDA version of a ptxas (1000 * major + 10 * minor), from its --version. JW_ERR_UNSUPPORTED:
 * not a ptxas. */
int ptxas_version(struct jw_error *err, const char *program, uint32_t *ret_cuda);

struct ptxas_job {
	const char *program;
	const char *folder;      /* for temporary files */
	struct jw_target target; /* for which to compile (gpu_jit_target) */
	bool link;               /* an input of run-time linking */
	const char *options;     /* of the PTX entry, verbatim, NUL-terminated; none that name files */
	const void *ptx;         /* its text, without the NULs at its end */
	size_t ptx_bytes;
};

struct ptxas_outcome {
	bool refused;        /* by ptxas: `log` says why */
	char error[128];     /* "ptxas ended with status 255", "" on success */
	uint64_t peak_bytes; /* its peak resident memory */
	double cpu_ms;       /* its processor time */
};

/* The first word of an option string (words and blanks) that may name a file, which ptxas and the
 * driver's compiler would read or write; NULL: none does. *ret_length may be NULL. */
const char *ptxas_option_with_file(const char *options, size_t *ret_length);

/* -1: not tried. The caller frees log and cubin. */
int ptxas_compile(struct jw_error *err, const struct ptxas_job *job,
				  struct ptxas_outcome *ret_outcome, struct buf *log, struct buf *cubin);
