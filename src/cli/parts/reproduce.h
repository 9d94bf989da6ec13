/* Commands to copy. */
#pragma once

#include <jitwarm/prime.h>

#include "base/buf.h"
#include "cli/options.h"
#include "cli/output.h"

/* One shell line that compiles what failed in its file, where all else is warm. The caller frees
 * it; NULL and err set when memory is short. */
char *reproduce_command(struct jw_error *err, const struct options *options,
						const struct jw_prime_failure *failure);

/* Appends a blank and the word, quoted for a shell. */
int reproduce_add_word(struct jw_error *err, struct buf *line, const char *word);
/* Prints `begin` and the word, quoted, as a command (output_command). */
void reproduce_print(const struct output *output, const char *what, const char *begin,
					 const char *word);
/* As reproduce_add_word, for a POSIX shell (single quotes), or for both of Windows' (double ones,
 * in which '?' stands for what one of them would act on). */
int reproduce_quote(struct jw_error *err, struct buf *line, const char *word, bool windows);
