/* The packages that a file asks pip for (jw_package_list_read, jitwarm/scan.h). */
#pragma once

#include <stddef.h>

#include <jitwarm/scan.h>

#include "base/error.h"

/* From a file's content; `name` is the file's, whose ending tells a pylock.toml. */
int package_list_parse(struct jw_error *err, const char *name, const void *data, size_t size,
					   struct jw_package_list *ret_list);
