/* Quotes words of a command that users copy into a POSIX shell, or into cmd or PowerShell. */
#pragma once

#include "base/buf.h"

/* Appends a blank and the word, quoted for a shell of this system. */
void shell_add_word(struct buf *line, const char *word);
void shell_add_words(struct buf *line, const char *const *words, size_t count);
/* Appends words that are one text, with blanks between two; NULL has none. */
void shell_add_each(struct buf *line, const char *text);
/* Returns the quoted name or path for a command in a message, or NAME if it is too long. No command
 * takes it for an option: "./-rf.ptx". */
enum { SHELL_WORD = 256 };
const char *shell_word(char text[SHELL_WORD], const char *word);
/* Appends the word for sh, bash, zsh and fish (in single quotes, or as what printf prints if output
 * would escape one of its characters), or for both of Windows' shells (in double quotes, with '?'
 * for characters that one of them would act on). */
void shell_quote(struct buf *line, const char *word, bool windows);
