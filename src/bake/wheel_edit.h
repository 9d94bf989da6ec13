/* What a wheel says about itself, with another version: its label, METADATA, RECORD. Sources: PEP
 * 427 and 440, and the PyPA specification “Binary distribution format”. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"

/* The version with the GPUs in its local label: "1.0.2" → "1.0.2+jitwarm.sm86". A label that is
 * there is normalised and continued, and one of jitwarm's gets the GPUs that it lacks. The caller
 * frees it. JW_ERR_FORMAT: not of PEP 440. */
char *wheel_edit_version(struct jw_error *err, const char *version, const struct jw_target *gpus,
						 size_t gpu_count);

/* NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl with another version, escaped as there ('-' is '_').
 * The caller frees it. JW_ERR_FORMAT: not a wheel's name, or its version is not `old_version`,
 * which METADATA has. */
char *wheel_edit_file_name(struct jw_error *err, const char *name, const char *old_version,
						   const char *version);
/* The same for the part of NAME-VERSION.dist-info before its dot. */
char *wheel_edit_stem(struct jw_error *err, const char *stem, const char *old_version,
					  const char *version);

/* METADATA's version; the caller frees it. JW_ERR_FORMAT: there is none, or two. */
char *wheel_edit_old_version(struct jw_error *err, const struct buf *metadata);
/* METADATA with another version; every other byte stays. `ret_text`: with its maximum set. */
int wheel_edit_metadata(struct jw_error *err, const struct buf *metadata, const char *version,
						struct buf *ret_text);

/* Passes on the rows of RECORD: the file's path, unquoted, and the whole row. JW_ERR_FORMAT: one
 * has no path. */
typedef int (*wheel_take_row)(struct jw_error *err, void *context, const char *path,
							  const char *row);
int wheel_record_rows(struct jw_error *err, const struct buf *record, wheel_take_row take,
					  void *context);
