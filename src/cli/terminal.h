/* Text for a terminal: its width, and escapes for its dangerous characters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Returns whether a line can be rewritten in place: the terminal knows escape sequences. */
bool terminal_rewrites(int fd);

/* Returns the columns of `text` (UTF-8): Hangul, kana and ideographs take two, combining marks
 * none; this program's own signs as many as terminal_to_locale makes of them. */
size_t terminal_width(const char *text);

/* Appends `text` and escapes everything that could control a terminal: control characters,
 * ill-formed bytes ("\x1b"), and characters that disguise text ("\u202e", text_is_hidden). Names of
 * files and archive members are hostile too. */
void terminal_append(struct buf *buf, const char *text);

/* Returns ASCII for one of this program's own quotes, dots and signs; NULL for other characters. */
const char *terminal_ascii(uint32_t point);
/* Replaces this program's own quotes, dots and signs by ASCII if the locale is not UTF-8. File
 * names stay unchanged. */
void terminal_to_locale(struct buf *buf);

/* Appends `text`, broken at spaces so that no line is wider than `columns`; each line after the
 * first begins with `indent` spaces. Line feeds in the text are kept; none is added at the end. */
void terminal_wrap(struct buf *buf, const char *text, size_t indent, size_t columns);

/* Appends a line, broken at spaces outside quotes to fit `columns`, of which `taken` are used on
 * the first line. Keeps its spaces except at breaks; continuation lines are indented to the text
 * after the line's label, if it has one. A word or a text in quotes that is wider stays whole, as
 * does the command that begins `command` bytes into the line, if it has one; it goes to a line of
 * its own, except from behind a mere label. 0: the line has no command. */
void terminal_fold(struct buf *buf, const char *line, size_t command, size_t taken, size_t columns);
