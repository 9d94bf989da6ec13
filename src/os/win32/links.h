/* The content of a junction or a symbolic link, as NTFS stores it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "base/error.h"

/* Where it leads; the caller frees it. `path` is for the message. *ret_relative: from the link's
 * own folder; otherwise it begins with \??\. JW_ERR_FORMAT for what is neither. */
wchar_t *win32_link_target(struct jw_error *err, const char *path, const void *data, size_t size,
						   bool *ret_relative);
