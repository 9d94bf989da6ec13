/* Words of a command for copying: into a POSIX shell, or into cmd or PowerShell, whichever it is.
 */
#pragma once

#include "base/buf.h"

/* Appends a blank and the word, quoted for a shell of this system. */
void shell_add_word(struct buf *line, const char *word);
void shell_add_words(struct buf *line, const char *const *words, size_t count);
/* The quoted word alone, for a command in a message: NAME where it is longer than that has room. */
enum { SHELL_WORD = 256 };
const char *shell_word(char text[SHELL_WORD], const char *word);
/* As shell_add_word, for a POSIX shell (single quotes), or for both of Windows' (double ones, in
 * which '?' stands for what one of them would act on). */
void shell_quote(struct buf *line, const char *word, bool windows);
