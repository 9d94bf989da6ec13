/* Memory, byte strings, little-endian numbers and the hash of the simulated driver. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *sim_alloc(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory) {
		fputs("simdriver: out of memory\n", stderr);
		abort();
	}
	return memory;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){NULL, 0};
}

/* The capacity is the next power of two, so it needs no field of its own. */
static size_t capacity_for(size_t size)
{
	size_t capacity = 64;

	while (capacity < size)
		capacity *= 2;
	return capacity;
}

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
	if (!bytes->data || capacity_for(bytes->size) < bytes->size + size) {
		uint8_t *larger = sim_alloc(capacity_for(bytes->size + size));

		if (bytes->data)
			memcpy(larger, bytes->data, bytes->size);
		free(bytes->data);
		bytes->data = larger;
	}
	if (data)
		memcpy(bytes->data + bytes->size, data, size);
	else
		memset(bytes->data + bytes->size, 0, size);
	bytes->size += size;
}

void bytes_add_text(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

uint32_t get_u32(const uint8_t *from)
{
	return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
		   (uint32_t)from[3] << 24;
}

uint64_t get_u64(const uint8_t *from)
{
	return get_u32(from) | (uint64_t)get_u32(from + 4) << 32;
}

void put_u16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

void put_u32(uint8_t *to, uint32_t value)
{
	put_u16(to, (uint16_t)value);
	put_u16(to + 2, (uint16_t)(value >> 16));
}

void put_u64(uint8_t *to, uint64_t value)
{
	put_u32(to, (uint32_t)value);
	put_u32(to + 4, (uint32_t)(value >> 32));
}

uint64_t sim_fnv(uint64_t state, const void *data, size_t size)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < size; i++)
		state = (state ^ byte[i]) * UINT64_C(0x100000001b3);
	return state;
}
