/* Whether a driver loads the machine code of an entry. A driver believes a value whose checksum
 * holds: it never compiles again what it cannot load, so that the program fails with it at every
 * start (docs/driver-cache.md, "Damage"). */
#pragma once

#include <jitwarm/system.h>

#include "cache/entry.h"
#include "cache/key_parts.h"
#include "devcode/cubin.h"

/* `cuda`: the CUDA version of the driver, 0 where unknown. Cubins of ABI 8 need one of 12.8. */
bool cache_abi_loads(enum cubin_abi abi, uint32_t cuda);

/* `cubin` NULL: the value is no cubin. `device` and `form` are those of the entry's key. */
enum cache_damage cache_cubin_damage(const struct cubin_header *cubin, struct jw_target device,
									 enum cache_key_form form, uint32_t cuda);

/* The driver at hand. Entries with its stamp are judged though it is in no table and no profile of
 * it is kept. */
struct sound_driver {
	const char *stamp; /* "" where unknown */
	uint32_t cuda;     /* 0 where unknown */
};

/* NULL: zeros. It refers to `info`. */
struct sound_driver sound_driver_of(const struct jw_driver_info *info);

/* Zeros but for `driver` at first. */
struct cache_loads {
	struct sound_driver driver;
	char stamp[CACHE_STAMP_SIZE + 1]; /* the last one that was judged under */
	bool known;                       /* a driver's stamp, not that of a compiler's library */
	uint32_t cuda;
};

/* An entry's value, and what its key says. */
struct cache_code {
	const struct cache_key_parts *parts;
	size_t text_bytes; /* of the payload that are there, where these are fewer than all */
	cubin_read_fn read;
	void *context;
	uint64_t size;
};

/* Code under stamps that are no driver's is sound, and so is that of an unknown ABI under the stamp
 * of a driver that is newer than those that were seen. */
enum cache_damage cache_code_damage(struct cache_loads *loads, const struct cache_code *code);
