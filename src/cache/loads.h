/* Whether a driver loads the machine code of an entry. A driver believes a value whose checksum
 * holds: it never compiles again what it cannot load, so that the program fails with it at every
 * start (docs/driver-cache.md, "Damage"). */
#pragma once

#include <jitwarm/target.h>

#include "cache/entry.h"
#include "cache/key.h"
#include "devcode/cubin.h"

/* `cuda`: the CUDA version of the driver, 0 where unknown. Cubins of ABI 8 need one of 12.8. */
bool cache_abi_loads(enum cubin_abi abi, uint32_t cuda);

/* `cubin` NULL: the value is no cubin. `device` and `form` are those of the entry's key. */
enum cache_damage cache_cubin_damage(const struct cubin_header *cubin, struct jw_target device,
									 enum cache_key_form form, uint32_t cuda);
