/* Taking one program out of a wheel (PEP 427: a zip file with a RECORD of hashes). */
#pragma once

#include "base/cancel.h"

enum { WHEEL_MOST_RECORD = 4 << 20, WHEEL_MOST_PROGRAM = 1 << 30 };

/* Writes the file …/bin/`name` of `wheel` to `path`, executable, if it is the one whose SHA-256 the
 * RECORD tells. Of no other member is anything written. JW_ERR_FORMAT; on failure `path` may hold
 * a part. */
int wheel_member_take(struct jw_error *err, const char *wheel, const char *name, const char *path,
					  const struct jw_cancel *cancel);
