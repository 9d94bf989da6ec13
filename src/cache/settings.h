/* The cache's settings from the environment, parsed as by the driver. Source:
 * docs/internals/driver-cache.md, "Limits and variables" (measured on 550.163.01: numbers are
 * parsed like strtoull, switches are on only for the number 1).
 *
 * The driver's default directory and size depend on the system; this is the environment of our own
 * process, which may differ from the application's. The program jitwarm completes its own by
 * jw_settings_adopt. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/system.h>

#include "base/error.h"
#include "cache/limit.h"

/* With less free space the next module may leave a torn entry. */
#define CACHE_LITTLE_ROOM UINT64_C(67108864)

enum { CACHE_MAX_WARNINGS = 24 };

/* Reads the environment and examines the directory; writes nothing. `dir`: another directory than
 * the environment's, NULL: the environment's. `home`: the home directory of another account, NULL:
 * our own. Faults of the settings are warnings, not failures. Leaves to the caller what depends on
 * the driver: its own default limit, `force_jit`, `why_useless`, `outlook`. The caller frees them.
 */
int cache_settings_read(struct jw_error *err, const char *dir, const char *home,
						struct jw_cache_info *ret_settings);
void cache_settings_free(struct jw_cache_info *settings);

/* Sets a variable of the cache in this process as programs of its account have it from their next
 * login on. cache_settings_own: its value without that, NULL if it is not set; the caller frees it.
 * Neither is for several threads. */
int cache_settings_adopt(struct jw_error *err, const char *name, const char *value);
char *cache_settings_own(const char *name);
/* The environment is another process's or account's from now on: nothing of it was adopted. */
void cache_settings_forget_adopted(void);

/* Whether the driver takes this value of a switch as on. */
bool cache_switch_is_on(const char *text);
/* The variable that was meant by this similar name, which no driver reads; NULL for others. */
const char *cache_lookalike_of(const char *name);
