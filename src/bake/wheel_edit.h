/* A wheel's own metadata with another version: its label, METADATA, RECORD. Sources: PEP 427 and
 * 440, and the PyPA specification “Binary distribution format”. */
#pragma once

#include <stddef.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"

/* Returns the version with the GPUs in its local label: "1.0.2" → "1.0.2+jitwarm.sm86". An existing
 * label is normalised and continued, and one of jitwarm's gets the GPUs that it lacks. The caller
 * frees it. JW_ERR_FORMAT if the version is not valid by PEP 440. */
char *wheel_edit_version(struct jw_error *err, const char *version, const struct jw_target *gpus,
						 size_t gpu_count);

/* Returns NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl with another version, escaped as in the old
 * name ('-' is '_'). The caller frees it. JW_ERR_FORMAT if it is not a wheel's name, or its version
 * is not `old_version`, which METADATA has. */
char *wheel_edit_file_name(struct jw_error *err, const char *name, const char *old_version,
						   const char *version);
/* Returns NAME-VERSION, of NAME-VERSION.dist-info, with another version. The caller frees it.
 * JW_ERR_FORMAT if its version is not `old_version`. */
char *wheel_edit_stem(struct jw_error *err, const char *stem, const char *old_version,
					  const char *version);

/* Returns METADATA's version; the caller frees it. JW_ERR_FORMAT if there is none, or two. */
char *wheel_edit_old_version(struct jw_error *err, const struct buf *metadata);
/* Writes METADATA with another version; every other byte stays. `ret_text` has its maximum set. */
int wheel_edit_metadata(struct jw_error *err, const struct buf *metadata, const char *version,
						struct buf *ret_text);

/* Calls `take` with the rows of RECORD: the file's path, unquoted, and the whole row. JW_ERR_FORMAT
 * if a row has no path. */
typedef int (*wheel_take_row)(struct jw_error *err, void *context, const char *path,
							  const char *row);
int wheel_record_rows(struct jw_error *err, const struct buf *record, wheel_take_row take,
					  void *context);
