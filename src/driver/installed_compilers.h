/* Finding a ptxas, and fetching it where that is asked for (`fetch` not NULL). */
#pragma once

#include <jitwarm/compiler.h>

#include "base/error.h"

/* The oldest one at hand of CUDA versions from `least` to `most` (1000 * major + 10 * minor): most
 * drivers load its code. Without one the first that has a wheel is fetched, or JW_ERR_NOT_FOUND
 * names it. */
int compiler_oldest(struct jw_error *err, uint32_t least, uint32_t most,
					const struct jw_compiler_fetch_options *fetch,
					struct jw_compiler *ret_compiler);
/* jw_compiler_find, with fetching. */
int compiler_find(struct jw_error *err, const struct jw_driver *driver, const char *file,
				  const struct jw_compiler_fetch_options *fetch, struct jw_compiler *ret_compiler);

/* Which CUDA a compiler is of, without loading it. 1000 * major + 10 * minor; 0: not known. */

/* "12.8", "12.8.93" */
uint32_t compiler_cuda_of_text(const char *text);
/* An NVRTC, or its builtins: by its real name (libnvrtc.so.12.8.93), or that of the builtins in its
 * folder. */
uint32_t compiler_nvrtc_cuda(const char *path);
/* Why the driver refuses the PTX of a compiler of that name and CUDA version, in a line that the
 * caller frees; NULL: it reads it, or what it reads is not known. */
char *compiler_refused_ptx(const char *name, uint32_t cuda, const struct jw_driver *driver);

/* Whether a compiler may be run: ptxas, or a library of NVRTC. */

/* The superuser runs none that another account could replace (os/file.h). JW_ERR_IO says why,
 * and what to do. For other accounts it is their own affair. */
int compiler_check_trust(struct jw_error *err, const char *path);
/* The same for a library that is opened by its name: the first folder of LD_LIBRARY_PATH that has
 * it decides; the system's own folders are the superuser's. */
int compiler_check_name(struct jw_error *err, const char *name);
