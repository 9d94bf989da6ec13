/* The folder of fetched compilers and the names of their wheels. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Removes the fetched compilers, and their folders if nothing else is left in them. *ret_path is
 * the folder, which the caller frees; NULL if there was none, or jw_use_compilers has named one.
 * With `dry_run`, only finds the folder. */
int compiler_fetch_remove(struct jw_error *err, bool dry_run, char **ret_path);
/* Returns "ptxas". */
const char *compiler_fetch_program(void);
/* Returns the first CUDA version from this one on that has a wheel with ptxas (1000 * major + 10 *
 * minor). */
uint32_t compiler_fetch_first(uint32_t cuda);
/* Writes the name of the wheel that holds the ptxas of CUDA `major` ("nvidia-cuda-nvcc-cu12");
 * returns `text`. */
const char *compiler_fetch_package(char text[64], unsigned major);
