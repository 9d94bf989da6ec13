/* Limits that a shell or a service sets for this process (ulimit). */
#pragma once

#include "base/error.h"

/* Prepares the program at its start: a file that grows past the limit makes the write fail
 * (JW_ERR_IO) instead of ending the process; a small stack is enlarged. JW_ERR_LIMIT: the stack
 * stays too small. Does nothing on Windows. */
int os_prepare_limits(struct jw_error *err);
