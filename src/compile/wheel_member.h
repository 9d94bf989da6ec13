/* Extracts one program from a wheel (PEP 427: a zip file with a RECORD of hashes). */
#pragma once

#include "base/cancel.h"

enum { WHEEL_MOST_RECORD = 4 << 20, WHEEL_MOST_PROGRAM = 1 << 30 };

/* Writes the file …/bin/`name` of `wheel` to `path`, executable, after a check of its SHA-256 in
 * RECORD. No other member is written. JW_ERR_FORMAT; on failure `path` may hold
 * a part. */
int wheel_member_take(struct jw_error *err, const char *wheel, const char *name, const char *path,
					  const struct jw_cancel *cancel);
