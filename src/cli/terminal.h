/* Text for a terminal: its width, and its dangerous characters made visible. */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* Columns that `text` takes (UTF-8): Hangul, kana and ideographs take two, combining marks none;
 * this program's own signs as many as terminal_to_locale makes of them. */
size_t terminal_width(const char *text);

/* Appends `text` with everything that could steer a terminal made visible: control characters,
 * ill-formed bytes ("\x1b") and marks that turn the direction of writing ("\u202e"). Names of files
 * and of members in archives are hostile too. */
int terminal_append(struct jw_error *err, struct buf *buf, const char *text);

/* Puts ASCII in place of this program's own quotes, dots and signs where the locale is not UTF-8.
 * Names of files stay as they are. */
void terminal_to_locale(struct buf *buf);

/* Appends `text`, broken at spaces so that no line is wider than `columns`, each line but the first
 * begun with `indent` spaces. A line feed in the text stays one. No line feed is added at the end.
 */
int terminal_wrap(struct jw_error *err, struct buf *buf, const char *text, size_t indent,
				  size_t columns);

/* Appends a line, broken at spaces so that it is no wider than `columns`, the first of which
 * `taken` are taken. Its spaces stay, but where it is broken; what follows is indented to the text
 * behind the line's label, if it has one. A word that is wider stays whole. */
int terminal_fold(struct jw_error *err, struct buf *buf, const char *line, size_t taken,
				  size_t columns);
