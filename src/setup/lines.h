/* The lines that set variables, in the syntax of each file. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "setup/setting_places.h"

/* Appends to `text` the lines that set the requested variables, and JITWARM_TUNED: a process with
 * that value has read the file. JW_ERR_USAGE for a path that the form cannot express. */
int place_lines(struct jw_error *err, enum place_form form, uint64_t limit_bytes, const char *path,
				struct buf *text);

/* Writes the mark with which jitwarm's lines in other people's files begin or end
 * (setup/marked_line.h). */
enum { PLACE_MARK = 64 };
void place_mark(char text[PLACE_MARK], enum jw_scope scope);
/* Appends the text for such a file, without the last line feed: the line that loads `place->path`,
 * or the mark and the variables. */
int place_marked(struct jw_error *err, const struct setting_place *place, uint64_t limit_bytes,
				 const char *path, struct buf *text);
