/* Commands to type next. */
#pragma once

#include <jitwarm/system.h>

#include "base/buf.h"
#include "cli/options.h"
#include "cli/output.h"
#include "os/shell.h"

/* The size of a buffer in which a command is put together, word by word (os/shell.h); a command
 * that lacks a piece is not printed. */
enum { NEXT_STEP_MAX = 1 << 20 };

/* Prints a line that says what to do: “Next: ”, “Next ” on a page, “ Do: ”, or, on standard error,
 * the purpose of a command; and the command, which ends the line so that it can be copied.
 * `command` is NULL if no command does it. Frees the buffer. The tests of commands parse each such
 * line with the tables of options, and run it (tests/cli/steps.sh). */
void next_step(const struct output *output, enum style style, const char *text,
			   struct buf *command);
/* Prints such a line, faint, with a fixed command. */
void next_step_fixed(const struct output *output, const char *text, const char *command);
void next_step_below(const struct output *output, const char *text, struct buf *command);

/* Appends those of these options that were given, with their values. NULL ends the names; the
 * command may lack some. */
void next_step_keep(struct buf *command, const struct options *options, const char *const *names);
/* Appends the operands, after a "--" if one looks like an option. */
void next_step_names(struct buf *command, const struct options *options);
/* Returns the command as a text without a leading blank, which the caller frees; frees the
 * buffer. */
char *next_step_take(struct buf *command);
/* Prints below an error or a warning how programs get a cache that the driver uses. */
void next_step_cache(const struct output *output, const struct jw_cache_info *cache);
