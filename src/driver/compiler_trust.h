/* Keeps the superuser from running a compiler that another account could replace: ptxas, or a
 * library of NVRTC or nvJitLink. */
#pragma once

#include "base/error.h"

/* Refuses, for the superuser, a compiler that another account could replace (os/file.h). JW_ERR_IO
 * has the reason and what to do. Other accounts may run any compiler. */
int compiler_check_trust(struct jw_error *err, const char *path);
/* Checks a library that is opened by its name: the first folder of LD_LIBRARY_PATH that has it
 * decides; the system's own folders are the superuser's. */
int compiler_check_name(struct jw_error *err, const char *name);
