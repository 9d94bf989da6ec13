/* What to type next. */
#pragma once

#include <jitwarm/system.h>

#include "base/buf.h"
#include "cli/options.h"
#include "cli/output.h"
#include "os/shell.h"

/* A command is put together in such a buffer, word by word (os/shell.h): where it lacks a piece, it
 * is not printed. */
enum { NEXT_STEP_MAX = 1 << 20 };

/* Every line that tells what to do: “Next: ”, “Next    ” of a page, “    Do: ”, or on standard
 * error what a command is for; and the command, which ends its line so that it can be copied.
 * `command` NULL: no command does it. Frees the buffer. The tests of commands parse each such line
 * with the tables of options, and run it (tests/cli/steps.sh). */
void next_step(const struct output *output, enum style style, const char *text,
			   struct buf *command);
/* The same with a command that stands in the program. */
void next_step_fixed(const struct output *output, enum style style, const char *text,
					 const char *command);
void next_step_below(const struct output *output, const char *text, struct buf *command);

/* Appends those of these options that were given, with their values. NULL ends the names. */
void next_step_keep(struct buf *command, const struct options *options, const char *const *names);
/* Appends the operands, behind a "--" where one looks like an option. */
void next_step_names(struct buf *command, const struct options *options);
/* The command as a text without a blank before it, which the caller frees; frees the buffer. */
char *next_step_take(struct buf *command);
/* Below an error or a warning: how programs get a cache that the driver uses. */
void next_step_cache(const struct output *output, const struct jw_cache_info *cache);
