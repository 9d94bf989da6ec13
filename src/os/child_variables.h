/* The environment variables of the programs that jitwarm starts. */
#pragma once

#include <stddef.h>

#include "base/error.h"

struct child_variable {
	const char *name, *value; /* a NULL value removes the variable */
};

/* Returns this process's variables with these changes: "NAME=VALUE" strings and a NULL. The caller
 * frees it with jw_result_free. NULL with err on failure. */
char **child_variables_with(struct jw_error *err, const struct child_variable *changes,
							size_t count);
/* The same, but only the variables of one list (child_variables.c) and the changes: for NVIDIA's
 * driver and compilers, and for every program that root starts. Others make these programs load
 * libraries and write files (CUDA_INJECTION64_PATH, DUMP_KNOBS_TO_FILE, PIP_LOG …). */
char **child_variables_passed(struct jw_error *err, const struct child_variable *changes,
							  size_t count);
