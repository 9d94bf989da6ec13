/* The lines that set variables, in the syntax of each file. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "setup/setting_places.h"

/* Appends to `text` the lines that set the requested variables. JW_ERR_USAGE for a path that the
 * form cannot hold. */
int place_lines(struct jw_error *err, enum place_form form, uint64_t limit_bytes, const char *path,
				struct buf *text);
