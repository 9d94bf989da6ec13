/* Lines of a shell profile that set a variable, commented out so that they can be restored to the
 * byte:
 *
 *     : # jitwarm tune removed # export CUDA_CACHE_MAXSIZE=1000
 *
 * The colon is a command that does nothing: without one a shell refuses the branch of an `if`. No
 * other record is needed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The text with line `line` (from 1) commented out, if the line sets or unsets `name` and does
 * nothing else; otherwise *ret_text is empty. fish needs no colon. */
int override_comment(struct jw_error *err, const char *text, size_t size, size_t line,
					 const char *name, bool fish, struct buf *ret_text);

/* The text with all such lines restored; *ret_there: there were some. */
int override_restore(struct jw_error *err, const char *text, size_t size, struct buf *ret_text,
					 bool *ret_there);
