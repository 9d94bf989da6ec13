/* Finds a ptxas, and fetches one if the caller allows it (`fetch` is not NULL). */
#pragma once

#include <jitwarm/compiler.h>

#include "base/error.h"

struct compiler {
	const char *path;
	uint32_t cuda; /* 1000 * major + 10 * minor */
	bool exact;    /* of the driver's own minor version; otherwise another one, whose code works but
					  differs */
};

/* The paths of these live in the arena of `owner`. */

/* Takes the ptxas that the user named. JW_ERR_UNSUPPORTED if it is newer than the driver, which
 * would refuse its code; any version for a driver without a CUDA version. */
int compiler_named(struct jw_error *err, void *owner, const struct jw_driver *driver,
				   const char *file, struct compiler *ret_compiler);
/* Finds the ptxas of the driver's own version, from those that jw_compiler_fetch has fetched, or of
 * a toolkit (/usr/local/cuda-12.4, CUDA_HOME, CUDA_PATH, PATH); if there is none, it is fetched if
 * the caller allows it, or JW_ERR_NOT_FOUND names the missing version, how to fetch it, and the
 * drawback of an older one. */
int compiler_find(struct jw_error *err, void *owner, const struct jw_driver *driver,
				  const struct jw_compiler_fetch_options *fetch, struct compiler *ret_compiler);

/* The CUDA version of a compiler, without loading it: 1000 * major + 10 * minor; 0 if unknown. */

/* Reads "12.8" or "12.8.93". */
uint32_t compiler_cuda_of_text(const char *text);
/* Finds the version of an NVRTC, or its builtins, by its real name (libnvrtc.so.12.8.93), or by
 * that of the builtins in its folder. */
uint32_t compiler_nvrtc_cuda(const char *path);
/* Returns a line that says why the driver refuses the PTX of a compiler with that name and CUDA
 * version; NULL if the driver accepts it, or if that is unknown. The caller frees it. */
char *compiler_refused_ptx(const char *name, uint32_t cuda, const struct jw_driver *driver);
