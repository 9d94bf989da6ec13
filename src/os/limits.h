/* Limits that a shell or a service sets for this process (ulimit). */
#pragma once

#include "base/error.h"

/* Prepares the program, at its start: a file that would grow past the limit is an error of the
 * write (JW_ERR_IO), not the end of the process; a small stack is made larger. JW_ERR_LIMIT: it
 * stays too small to run with. Nothing to do on Windows. */
int os_prepare_limits(struct jw_error *err);
