/* What is in a directory, one by one. */
#pragma once

#include "os/file.h"

/* Calls `take` for each name in a directory with what it is itself: a link is OS_OTHER, whatever it
 * leads to; nor is a link at the end of `path` followed on POSIX. Fills in the kind, the size,
 * the device and the time of the last write. A return other than 0 of `take` ends it, and
 * is returned. */
int os_each(struct jw_error *err, const char *path,
			int (*take)(struct jw_error *err, void *context, const char *name,
						const struct os_stat *stat),
			void *context);
