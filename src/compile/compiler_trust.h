/* Whether a compiler may be run: ptxas, or a library of NVRTC. */
#pragma once

#include "base/error.h"

/* The superuser runs none that another account could replace (os/private.h). JW_ERR_IO says why,
 * and what to do. For other accounts it is their own affair. */
int compiler_check_trust(struct jw_error *err, const char *path);
/* The same for a library that is opened by its name: the first folder of LD_LIBRARY_PATH that has
 * it decides; the system's own folders are the superuser's. */
int compiler_check_name(struct jw_error *err, const char *name);
