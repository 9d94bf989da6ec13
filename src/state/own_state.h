/* Where this process keeps what it learns. */
#pragma once

#include "base/error.h"

/* As os_state_dir; *ret_path is NULL where nothing is kept: for an account without a home that
 * names no directory, and where sudo kept the caller's (-E), who could not write to files that root
 * makes there. The caller frees it. */
int own_state_dir(struct jw_error *err, char **ret_path);
