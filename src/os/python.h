/* Installations of Python that the system knows of, beside those on PATH. */
#pragma once

#include "base/error.h"

/* The folder of the newest Python that is registered (PEP 514: HKEY_CURRENT_USER before
 * HKEY_LOCAL_MACHINE, both views; PythonCore before other companies). JW_ERR_NOT_FOUND where there
 * is none, and always on POSIX, which has no such register. The caller frees it. */
int os_python_registered(struct jw_error *err, char **ret_prefix);
