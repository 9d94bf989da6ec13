/* Extracts one program or library from a wheel (PEP 427: a zip file with a RECORD of hashes). */
#pragma once

#include "base/cancel.h"

enum { WHEEL_MOST_RECORD = 4 << 20, WHEEL_MOST_PROGRAM = 1 << 30 };

/* Checks the SHA-256 in RECORD, then writes the file whose name ends in /`name` ("bin/ptxas") of
 * `wheel` to `path`, executable. Writes no other member. JW_ERR_FORMAT; on failure `path` may
 * contain a part. */
int wheel_member_take(struct jw_error *err, const char *wheel, const char *name, const char *path,
					  const struct jw_cancel *cancel);
