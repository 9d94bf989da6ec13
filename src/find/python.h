/* Finding the python that a user would start, without starting it: on Windows it may be the
 * Store's stub, on a login node it may take seconds. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* The executable behind `python3`, else `python`, on PATH, as the user's shell would start it
 * (links not resolved); pyenv's shims are followed to the version that they would choose. Other
 * scripts of that name are passed over. JW_ERR_NOT_FOUND. The caller frees it. */
int python_on_path(struct jw_error *err, char **ret_executable);

/* Where an executable's environment is: the folder of the pyvenv.cfg beside or above it
 * (*ret_virtual true), else the folder above the real file's (the folder itself on Windows). */
int python_prefix(struct jw_error *err, const char *executable, char **ret_prefix,
				  bool *ret_virtual);

/* The executable behind a pyenv shim, by PYENV_VERSION, .python-version in the current directory
 * and above it, or pyenv's own `version` file. JW_ERR_NOT_FOUND where it would be the system's. */
int pyenv_resolve(struct jw_error *err, const char *shim, char **ret_executable);

/* The value of `key` in a pyvenv.cfg; NULL where it is missing. The caller frees it. */
char *pyvenv_value(const char *directory, const char *key);

/* The next member of a list such as PATH that is not empty; NULL at its end. The caller frees it.
 */
char *path_list_next(const char **list);
