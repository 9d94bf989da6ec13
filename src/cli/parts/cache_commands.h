/* Shared by “cache list”, “cache verify” and “cache prune”. */
#pragma once

#include <jitwarm/cache.h>

#include "cli/command.h"

/* "cuda", "opencl", "other" of enum jw_cache_kind; "load", "link", "nvjitlink" of enum
 * jw_cache_form */
extern const char *const cached_kinds[4], *const cached_forms[3];

struct jw_cache_options cache_command_options(const struct cli *cli);
/* Reports a failure. If the driver does not cache, jitwarm cannot help. Returns -1. */
int cache_command_fail(const struct jw_error *err, struct cli *cli);
/* The release of a stamp, else the stamp in the form of --driver; returns `text`. */
#define CACHE_DRIVER_TEXT 64
const char *cache_command_driver_text(char text[CACHE_DRIVER_TEXT], const char *driver);
