/* The programs of the system that register tasks and units. */
#pragma once

#include <jitwarm/startup.h>

#include "base/buf.h"

enum { STARTUP_MAX_COMMANDS = 8, STARTUP_MAX_TEXT = 1 << 20 };

/* An array of a tool's arguments. */
#define STARTUP_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs a program of the system (os_system_program) and records it in `startup` (NULL: does not); on
 * failure its message becomes `failed`. *ret_good is set if it ended with 0. `ret_output` may be
 * NULL; the caller frees it. */
int startup_command(struct jw_error *err, struct jw_startup *startup, const char *tool,
					const char *const *words, struct buf *ret_output, bool *ret_good);
