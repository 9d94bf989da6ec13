/* The declarations that the engine's files share: a channel and its methods, and memory by GPU
 * address. */
#pragma once

#include "phantom.h"

#define SUBCHANNELS  8
#define METHODS_END  0x2000 /* methods from here on are not kept */
#define HOST_METHODS 0x100  /* methods below go to the channel itself */

struct channel {
	uint64_t gpfifo, userd;
	uint32_t entries, get, handle;
	uint32_t host[HOST_METHODS / 4];
	uint32_t methods[SUBCHANNELS][METHODS_END / 4]; /* the last value of each method */
	uint64_t inline_to, inline_left;                /* inline write in progress */
};

static inline uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Bits high:low, as DOC writes them. */
static inline uint32_t bits(uint32_t word, uint32_t high, uint32_t low)
{
	return word >> low & (uint32_t)((1ull << (high - low + 1)) - 1);
}

/* Returns false for an address that has no pages. */
bool gpu_read(uint64_t from, void *to, size_t size);
bool gpu_write(uint64_t to, const void *from, size_t size);

/* The number of bytes that a semaphore release writes; four words are the payload and the time in
 * nanoseconds. */
enum release_size { ONE_WORD = 4, TWO_WORDS = 8, FOUR_WORDS = 16 };
void release(const char *who, uint64_t address, uint64_t payload, enum release_size size);

/* Consumes the next words of an inline write. */
enum { LOAD_INLINE_DATA = 0x1b4 };
void inline_data(struct channel *channel, const uint32_t *values, uint32_t count);

/* Each function does the work that this method triggers, after the method's value was stored. */
void host_method(struct channel *channel, uint32_t method, uint32_t value);
void compute_method(struct channel *channel, const uint32_t *m, uint32_t method, uint32_t value);
void copy_method(const uint32_t *m, uint32_t method, uint32_t value);
