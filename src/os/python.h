/* Installations of Python that the system has registered, beside those on PATH. */
#pragma once

#include "base/error.h"

/* The folder of the newest registered Python (PEP 514: HKEY_CURRENT_USER before HKEY_LOCAL_MACHINE,
 * both views; PythonCore before other companies). JW_ERR_NOT_FOUND if there is none, and always on
 * POSIX, which has no such register. The caller frees it. */
int os_python_registered(struct jw_error *err, char **ret_prefix);

/* Calls `take` for the folder of each registered Python; none on POSIX. A return other than 0 ends
 * it, and is returned. */
int os_python_each(struct jw_error *err,
				   int (*take)(struct jw_error *err, void *context, const char *prefix),
				   void *context);
