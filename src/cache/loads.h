/* Whether a driver loads the machine code of an entry. A driver trusts a value with a correct
 * checksum: it never compiles a module again whose entry it cannot load, so the program fails with
 * it at every start (docs/driver-cache.md, "Damage"). */
#pragma once

#include <jitwarm/system.h>

#include "cache/entry.h"
#include "cache/key_parts.h"
#include "devcode/cubin.h"

/* `cuda`: the CUDA version of the driver, 0 if unknown. Cubins of ABI 8 need 12.8 or newer. */
bool cache_abi_loads(enum cubin_abi abi, uint32_t cuda);

/* `cubin` NULL: the value is not a cubin. `device` and `form` are those of the entry's key. */
enum cache_damage cache_cubin_damage(const struct cubin_header *cubin, struct jw_target device,
									 enum cache_key_form form, uint32_t cuda);

/* The current driver. Entries with its stamp are judged even if no table or kept profile contains
 * it. */
struct sound_driver {
	const char *stamp; /* "" if unknown */
	uint32_t cuda;     /* 0 if unknown */
};

/* NULL: zeros. It refers to `info`. */
struct sound_driver sound_driver_of(const struct jw_driver_info *info);

/* Initially zeros, except `driver`. */
struct cache_loads {
	struct sound_driver driver;
	char stamp[CACHE_STAMP_SIZE + 1]; /* the stamp of the last judgement */
	bool known;                       /* a driver's stamp, not a compiler library's */
	uint32_t cuda;
};

/* An entry's value, and the facts in its key. */
struct cache_code {
	const struct cache_key_parts *parts;
	cubin_read_fn read;
	void *context;
	uint64_t size;
};

/* Code with stamps that are not a driver's counts as sound; so does an unknown ABI with the stamp
 * of a driver newer than the known ones. */
enum cache_damage cache_code_damage(struct cache_loads *loads, const struct cache_code *code);
