/* Installations of Python that the system has registered, beside those on PATH. */
#pragma once

#include "base/error.h"

/* The folder of the newest registered Python (PEP 514: HKEY_CURRENT_USER before HKEY_LOCAL_MACHINE,
 * both views; PythonCore before other companies). JW_ERR_NOT_FOUND if there is none, and always on
 * POSIX, which has no such register. The caller frees it. */
int os_python_registered(struct jw_error *err, char **ret_prefix);
