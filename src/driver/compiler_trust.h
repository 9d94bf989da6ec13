/* Keeps the superuser from running a compiler that another account could replace: ptxas, or a
 * library of NVRTC or nvJitLink. */
#pragma once

#include "base/error.h"

/* Checks a library that is opened by its name: the first folder of LD_LIBRARY_PATH that has it
 * decides; the system's own folders are the superuser's. */
int compiler_check_name(struct jw_error *err, const char *name);
