/* Small entries for tests: a key as the driver writes it, and a cubin that is only a header. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "code/cubin.h"

enum { ENTRIES_CUBIN = 64, ENTRIES_MAX = 4096 };

struct entries_entry {
	uint64_t key, key_bytes, row_bytes;
	struct jw_identity identity;
	uint8_t bytes[ENTRIES_MAX];
	size_t size;
};

static inline void entries_cubin(uint8_t cubin[ENTRIES_CUBIN], uint16_t sm, bool relocatable)
{
	static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7};

	memset(cubin, 0, ENTRIES_CUBIN);
	memcpy(cubin, ident, sizeof ident);
	store_u16(cubin + 16, relocatable ? 1 : 2);
	store_u16(cubin + 18, CUBIN_MACHINE);
	store_u32(cubin + 20, 1);
	store_u32(cubin + 48, sm & 0xff);
	store_u16(cubin + 52, ENTRIES_CUBIN);
}

/* Makes entry number `n` of the driver with this stamp for sm_86; `padding` bytes follow the
 * header. */
static inline void entries_make_of(struct entries_entry *entry, const char *stamp, unsigned n,
								   size_t padding)
{
	char key[128];
	uint8_t *at = entry->bytes;
	int length = snprintf(key, sizeof key, "%sHOST64sm_86// %05u%c ", stamp, n, 0);
	size_t value_size = ENTRIES_CUBIN + padding;

	memset(entry, 0, sizeof *entry);
	entry->key_bytes = (uint64_t)length;
	entry->key = fnv_update(FNV_START, key, (size_t)length);
	cache_key_identity_of(&entry->identity, key, (size_t)length);
	memcpy(at + CACHE_ENTRY_HEADER, key, (size_t)length);
	entries_cubin(at + CACHE_ENTRY_HEADER + length, 86, false);
	cache_entry_header(at, (uint64_t)length, value_size,
					   fnv_update(FNV_START, at + CACHE_ENTRY_HEADER + length, value_size));
	entry->row_bytes = (uint64_t)length + value_size;
	entry->size = CACHE_ENTRY_HEADER + (size_t)length + value_size;
}

static inline void entries_make(struct entries_entry *entry, unsigned n, size_t padding)
{
	entries_make_of(entry, "Jun 25 202401:14:48", n, padding);
}
