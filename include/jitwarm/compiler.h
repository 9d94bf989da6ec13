/* NVIDIA's ptxas: compiles modules for GPUs and drivers of other machines.
 *
 * The ptxas of a driver's own CUDA minor version makes the bytes that the driver makes
 * (docs/internals/driver-cache.md). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/target.h>

/* Returns whether jw_compiler_fetch can get the ptxas of the driver's CUDA version. */
bool jw_compiler_has_wheel(const struct jw_driver *driver);

/* Sets the folder of fetched compilers from now on; NULL for $XDG_CACHE_HOME/jitwarm/ptxas or
 * ~/.cache/jitwarm/ptxas (%LOCALAPPDATA%\jitwarm\ptxas). Called before other threads start. */
void jw_use_compilers(const char *folder);
/* Finds the folder of jw_use_compilers, which is not created; the caller frees it. */
int jw_compiler_store(struct jw_error *err, char **ret_path);

/* Options of fetching. `progress`, which may be NULL, is called with the number of bytes received.
 * `cancel` is polled at least every second. */
struct jw_compiler_fetch_options {
	void *context;
	void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	struct jw_cancel cancel;
};

/* Fetches the ptxas of a CUDA version ("12.4", "12.4.131") from NVIDIA's wheel, by pip, from its
 * configured index, into the folder of jw_use_compilers. The version that the compiler reports is
 * checked (ptxas is started); a failure leaves no files. A compiler that is already there with this
 * version is not fetched again. `options` may be NULL. JW_ERR_NOT_FOUND if there is no such wheel,
 * or neither pip nor uv; JW_ERR_IO with the reason; JW_ERR_INTERRUPTED if cancelled. The caller
 * frees *ret_path with jw_text_free. */
int jw_compiler_fetch(struct jw_error *err, const char *version,
					  const struct jw_compiler_fetch_options *options, char **ret_path);
