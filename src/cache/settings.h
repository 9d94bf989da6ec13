/* The cache's settings from the environment, parsed as by the driver. Source:
 * docs/internals/driver-cache.md, "Limits and variables" (measured on 550.163.01: numbers are
 * parsed like strtoull, switches are on only for the number 1). The driver's default directory and
 * size depend on the system. This is the environment of our own process, which may differ from the
 * application's; the program jitwarm completes it by jw_settings_adopt. */
#pragma once

#include <stdint.h>

#include <jitwarm/system.h>

#include "base/error.h"
#include "cache/limit.h"

/* With less free space than this the next module may leave a torn entry. */
#define CACHE_LITTLE_ROOM UINT64_C(67108864)

enum { CACHE_MAX_WARNINGS = 24 };

/* Reads the environment and examines the directory; writes nothing. `dir` is a directory that
 * replaces the environment's, or NULL. Faults of the settings become warnings, not failures. The
 * caller sets what depends on the driver: its default limit, `force_jit`, `why_useless`, `outlook`.
 * The texts live in the arena of `owner`. */
int cache_settings_read(struct jw_error *err, void *owner, const char *dir,
						struct jw_cache_info *ret_settings);

/* Sets a variable of the cache in this process to the value that programs of its account will have
 * from their next login on. cache_settings_own returns the value without that, or NULL if it is not
 * set; the caller frees it. Not for several threads. */
int cache_settings_adopt(struct jw_error *err, const char *name, const char *value);
char *cache_settings_own(const char *name);
/* Sets the limit that jw_cache_info.kept_bytes has from now on. Not for several threads. */
void cache_settings_keep_limit(uint64_t bytes);
/* Forgets adopted variables: from now on the environment is that of another process or account. */
void cache_settings_forget_adopted(void);

/* Returns the variable that a user meant by this similar name, which no driver reads; NULL for
 * other names. */
const char *cache_lookalike_of(const char *name);
