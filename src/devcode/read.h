/* devcode_read over bytes that are in memory already, for fuzzing and for callers that have them.
 */
#pragma once

#include "devcode/devcode.h"

/* `path` only names the file, for the sink and for reading a member again. -1: the sink stopped it.
 */
int devcode_read_memory(struct jw_error *err, const char *path, const void *data, size_t size,
						const struct devcode_sink *sink);
