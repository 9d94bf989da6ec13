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

/* A command is put together in such a buffer: where it lacks a piece, it is not printed. */
enum { REPRODUCE_MOST = 1 << 20 };
/* Appends a blank and the word, quoted for a shell. */
void reproduce_add_word(struct buf *line, const char *word);
void reproduce_add_words(struct buf *line, const char *const *words, size_t count);
/* The command as a text without a blank before it, which the caller frees; frees the buffer. */
char *reproduce_take(struct jw_error *err, struct buf *line);
/* output_line_command; frees the buffer. */
void reproduce_line(const struct output *output, enum style style, const char *text,
					struct buf *line, const char *rest);
/* Prints `begin` and the word, quoted, as a command (output_command). */
void reproduce_print(const struct output *output, const char *what, const char *begin,
					 const char *word);
/* As reproduce_add_word, for a POSIX shell (single quotes), or for both of Windows' (double ones,
 * in which '?' stands for what one of them would act on). */
void reproduce_quote(struct buf *line, const char *word, bool windows);
