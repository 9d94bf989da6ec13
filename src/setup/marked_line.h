/* A marked line in a text file of another program or person: `if [ -r
 * '/home/u/.config/environment.d/60-jitwarm.conf' ]; then …; fi # jitwarm tune --scope user`. A
 * line that consists only of the mark also claims the variables that are set directly below it,
 * each of them once, since /etc/environment cannot load a file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

enum { MARKED_MAX_FILE = 16 << 20 };

/* The variables that a mark can claim; NULL at the end. */
extern const char *const marked_names[];

/* Returns the text with `line`, which ends in `mark` or begins with it, in the place of the former
 * one, else at the end. Existing text keeps its bytes; a last line without a line feed gets one,
 * and so does an empty file, unless it `is_new`. */
int marked_put(struct jw_error *err, const char *text, size_t size, const char *mark,
			   const char *line, bool is_new, struct buf *ret_text);

/* Returns the text without the marked lines; *ret_there says whether there were any. A file that
 * marked_put made is then empty. */
int marked_take(struct jw_error *err, const char *text, size_t size, const char *mark,
				struct buf *ret_text, bool *ret_there);

/* Returns whether the mark claims this line. `*claims` is 0 before the first line of a text, and is
 * passed on from line to line. */
bool marked_claims(const char *line, size_t size, const char *mark, unsigned *claims);
