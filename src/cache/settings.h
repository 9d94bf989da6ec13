/* The cache's settings, from the environment, as the driver reads them. Source:
 * docs/driver-cache.md, "Limits and variables" (measured on 550.163.01: numbers are read as C's
 * strtoull reads them, switches are on for the number 1 alone).
 *
 * The driver's default place and size are the system's; jitwarm sees the environment of its own
 * process, which need not be the application's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CACHE_MOST_LIMIT UINT64_C(4294967296)

enum { CACHE_MOST_WARNINGS = 24 };

struct cache_settings {
	char *path;           /* absolute; NULL where the driver would not cache at all */
	bool path_set;        /* by CUDA_CACHE_PATH */
	uint64_t limit_bytes; /* 0: nothing is stored; a new driver's where nothing sets it */
	bool limit_set;       /* by CUDA_CACHE_MAXSIZE */
	bool disabled;        /* CUDA_CACHE_DISABLE=1: neither read nor written */
	/* The cache is written and never read: CUDA_FORCE_PTX_JIT=1, or CUDA_FORCE_JIT=1 (force_jit),
	 * which old drivers do not know (gpu/branch.h). No warning is made of it. */
	bool force_ptx_jit, force_jit;
	bool disable_ptx_jit; /* CUDA_DISABLE_PTX_JIT=1 or CUDA_DISABLE_JIT=1: cold modules fail to load
						   */
	bool exists;          /* the directory is there */
	bool usable; /* as far as can be told without writing: the driver can read and write there */
	uint64_t free_bytes;
	char *warnings[CACHE_MOST_WARNINGS]; /* one line each, for people */
	size_t warning_count;
};

/* Reads the environment and looks at the directory; nothing is written. `dir`: another directory
 * than the environment's, NULL for that. `home`: the home directory of another account, NULL for
 * our own. Faults of the settings are warnings, not failures. The caller frees them. */
int cache_settings_read(struct jw_error *err, const char *dir, const char *home,
						struct cache_settings *ret_settings);
void cache_settings_free(struct cache_settings *settings);

/* The driver's reading of CUDA_CACHE_MAXSIZE: "1G" is 1, "" and "abc" are 0, more than 4 GiB (and
 * less than 0) is 4 GiB. */
uint64_t cache_parse_limit(const char *text);
/* A line on a value of CUDA_CACHE_MAXSIZE that the driver reads otherwise than it looks; NULL where
 * there is nothing to say. The caller frees it. */
int cache_explain_limit(struct jw_error *err, const char *text, char **ret_line);
/* Whether the driver takes this value of a switch for on. */
bool cache_switch_is_on(const char *text);
/* The variable that was probably meant by this look-alike, which no driver reads; NULL for others.
 */
const char *cache_lookalike_of(const char *name);
