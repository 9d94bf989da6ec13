/* Reads hostile bytes: a cursor that never leaves its range. A read past the end returns zeros and
 * sets `overrun`, so that a parser reads a whole header, then tests. Numbers are little endian.
 *
 * The bytes may be those of a mapped file, which can change at any time (os/file.h, os_map). Each
 * of these functions reads a number once, and the caller tests and uses the value. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool overrun;
};

/* Returns the value, and hides from the compiler where it came from: a compiler may read memory a
 * second time instead of keeping a value in a register. */
static inline uint64_t value_read_once(uint64_t value)
{
	__asm__("" : "+r"(value));
	return value;
}

static inline struct cursor cursor_of(const void *data, size_t size)
{
	const uint8_t *start = data;

	/* C does not define adding 0 to NULL. */
	return (struct cursor){.at = start, .end = size ? start + size : start};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* The next `size` bytes, or NULL and overrun. */
static inline const uint8_t *cursor_take(struct cursor *cursor, uint64_t size)
{
	const uint8_t *taken = cursor->at;

	if (cursor->overrun || size > cursor_left(cursor)) {
		cursor->overrun = true;
		cursor->at = cursor->end;
		return NULL;
	}
	cursor->at += size;
	return taken;
}

static inline uint64_t cursor_number(struct cursor *cursor, size_t size)
{
	const uint8_t *bytes = cursor_take(cursor, size);
	uint64_t value = 0;

	for (size_t i = size; bytes && i-- > 0;)
		value = value << 8 | bytes[i];
	return value_read_once(value);
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	return (uint8_t)cursor_number(cursor, 1);
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
	return (uint16_t)cursor_number(cursor, 2);
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
	return (uint32_t)cursor_number(cursor, 4);
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
	return cursor_number(cursor, 8);
}

/* Returns whether [offset, offset + size) lies within `total`, without overflow. */
static inline bool range_fits(uint64_t offset, uint64_t size, uint64_t total)
{
	return offset <= total && size <= total - offset;
}

/* Unaligned little-endian access where the bounds are already checked. */
static inline uint32_t load_u32(const void *from)
{
	const uint8_t *b = from;

	return (uint32_t)value_read_once((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
									 (uint32_t)b[3] << 24);
}

static inline uint8_t load_u8(const void *from)
{
	return (uint8_t)value_read_once(*(const uint8_t *)from);
}

static inline uint64_t load_u64(const void *from)
{
	return load_u32(from) | (uint64_t)load_u32((const uint8_t *)from + 4) << 32;
}

static inline void store_u16(void *to, uint16_t value)
{
	uint8_t *b = to;

	b[0] = (uint8_t)value;
	b[1] = (uint8_t)(value >> 8);
}

static inline void store_u32(void *to, uint32_t value)
{
	store_u16(to, (uint16_t)value);
	store_u16((uint8_t *)to + 2, (uint16_t)(value >> 16));
}

static inline void store_u64(void *to, uint64_t value)
{
	store_u32(to, (uint32_t)value);
	store_u32((uint8_t *)to + 4, (uint32_t)(value >> 32));
}
