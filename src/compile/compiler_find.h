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
