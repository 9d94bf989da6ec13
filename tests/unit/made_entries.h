/* Entry files of any size, as a worker's driver makes them, for tests that insert them into a
 * cache. */
#pragma once

#include "folder.h"

#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "cache/insert.h"
#include "code/cubin.h"

enum { CUBIN_HEADER = 64, SECTION = 64 };

struct entry {
	struct buf bytes;
	uint64_t key, key_bytes, value_bytes;
};

/* Writes a cubin with two section headers at its very end. */
static void put_cubin(uint8_t *cubin, uint64_t size, uint16_t sm)
{
	static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7};

	memcpy(cubin, ident, sizeof ident);
	store_u16(cubin + 16, 2);
	store_u16(cubin + 18, CUBIN_MACHINE);
	store_u32(cubin + 20, 1);
	store_u64(cubin + 40, size - 2 * SECTION);
	store_u32(cubin + 48, sm & 0xff);
	store_u16(cubin + 52, CUBIN_HEADER);
	store_u16(cubin + 58, SECTION);
	store_u16(cubin + 60, 2);
	store_u32(cubin + size - SECTION + 4, 1); /* sh_type */
	store_u64(cubin + size - SECTION + 24, CUBIN_HEADER);
	store_u64(cubin + size - SECTION + 32, size - CUBIN_HEADER - (uint64_t)2 * SECTION);
}

static void make_entry(struct entry *entry, uint64_t key_bytes, uint64_t value_bytes)
{
	size_t size = CACHE_ENTRY_HEADER + (size_t)(key_bytes + value_bytes);
	uint8_t *key, *value;

	*entry = (struct entry){.key_bytes = key_bytes, .value_bytes = value_bytes};
	entry->bytes.most = size + 64;
	OK(buf_reserve(why, &entry->bytes, size + 64));
	entry->bytes.size = size;
	memset(entry->bytes.data, 0, size + 64);
	key = entry->bytes.data + CACHE_ENTRY_HEADER;
	value = key + key_bytes;
	for (uint64_t i = 0; i < key_bytes; i++)
		key[i] = (uint8_t)(i * 7 + (i >> 9));
	for (uint64_t i = CUBIN_HEADER; i < value_bytes - (uint64_t)2 * SECTION; i++)
		value[i] = (uint8_t)(i * 5 + (i >> 11));
	put_cubin(value, value_bytes, 86);
	entry->key = fnv_update(FNV_START, key, (size_t)key_bytes);
	cache_entry_header(entry->bytes.data, key_bytes, value_bytes,
					   fnv_update(FNV_START, value, (size_t)value_bytes));
}

static void put(const char *path, const void *bytes, size_t size)
{
	OK(os_write_atomic(why, path, bytes, size));
}
