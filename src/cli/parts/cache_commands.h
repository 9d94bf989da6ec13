/* Shared by “cache list” and “cache verify”. */
#pragma once

#include <jitwarm/cache.h>
#include <jitwarm/marks.h>

#include "cli/command.h"

/* "cuda", "opencl", "other" of enum jw_cache_kind; "load", "link", "nvjitlink" of enum
 * jw_cache_form */
extern const char *const cached_kinds[4], *const cached_forms[3];

struct jw_cache_options cache_command_options(const struct cli *cli);
/* A driver that does not cache is beyond help. */
int cache_command_fail(const struct jw_error *err, struct cli *cli);
/* "Apr  8 202512:10:18" as people write it, with the release where it is known; returns `text`. */
const char *cache_command_driver_text(char text[64], const char *driver);
