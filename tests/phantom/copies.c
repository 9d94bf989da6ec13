/* The copy engine: copies and fills. DOC classes/dma-copy/clc8b5.h; the methods used here are the
 * same since clc5b5.h. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define CHUNK (1u << 20)

enum {
	SEM_A = 0x240,
	SEM_B = 0x244,
	SEM_PAYLOAD = 0x248,
	SEM_PAYLOAD_UPPER = 0x24c,
	LAUNCH = 0x300,
	IN_UPPER = 0x400,
	IN = 0x404,
	OUT_UPPER = 0x408,
	OUT = 0x40c,
	PITCH_IN = 0x410,
	PITCH_OUT = 0x414,
	LINE_LENGTH = 0x418,
	LINE_COUNT = 0x41c,
	CONST_A = 0x700,
	COMPONENTS = 0x708
};

static void copy_line(uint64_t to, uint64_t from, uint64_t size)
{
	void *buffer = malloc(size < CHUNK ? size + 1 : CHUNK);
	for (uint64_t done = 0; buffer && done < size; done += CHUNK) {
		size_t part = size - done < CHUNK ? size - done : CHUNK;
		if (!gpu_read(from + done, buffer, part) || !gpu_write(to + done, buffer, part)) {
			LOG("  copy FAILED");
			break;
		}
	}
	free(buffer);
}

/* Makes one element of a fill: components of COMPONENT_SIZE bytes, each of them CONST_A or CONST_B.
 * Returns its size in bytes. */
static uint32_t fill_element(const uint32_t *m, uint8_t element[16])
{
	enum { SOURCE_CONST_B = 5 };
	uint32_t layout = m[COMPONENTS / 4];
	uint32_t size = bits(layout, 17, 16) + 1, count = bits(layout, 25, 24) + 1;
	for (uint32_t i = 0; i < count; i++) {
		bool second = bits(layout, 4 * i + 2, 4 * i) == SOURCE_CONST_B; /* DST_X ... DST_W */
		memcpy(element + (size_t)i * size, &m[CONST_A / 4 + (second ? 1 : 0)], size);
	}
	return size * count;
}

static void fill_line(const uint32_t *m, uint64_t to, uint32_t elements)
{
	uint8_t element[16] = {0}, *buffer;
	uint32_t width = fill_element(m, element);
	uint32_t most = elements < CHUNK / width ? elements : CHUNK / width;
	buffer = malloc((size_t)most * width + 1);
	for (uint32_t i = 0; buffer && i < most; i++)
		memcpy(buffer + (size_t)i * width, element, width);
	while (buffer && elements) {
		uint32_t part = elements < most ? elements : most;
		if (!gpu_write(to, buffer, (size_t)part * width))
			break;
		to += (uint64_t)part * width;
		elements -= part;
	}
	free(buffer);
}

/* MULTI_LINE_ENABLE 9; REMAP_ENABLE 10: a fill, if its components are constant */
static void transfer(const uint32_t *m, uint32_t value)
{
	uint64_t in = pair(m[IN_UPPER / 4], m[IN / 4]), out = pair(m[OUT_UPPER / 4], m[OUT / 4]);
	uint32_t length = m[LINE_LENGTH / 4], lines = bits(value, 9, 9) ? m[LINE_COUNT / 4] : 1;
	bool remap = bits(value, 10, 10);
	LOG("  %s %lx -> %lx, %u x %u", remap ? "fill" : "copy", in, out, length, lines);
	for (uint32_t i = 0; i < lines; i++) {
		uint64_t to = out + (uint64_t)i * m[PITCH_OUT / 4];
		if (remap)
			fill_line(m, to, length);
		else
			copy_line(to, in + (uint64_t)i * m[PITCH_IN / 4], length);
	}
}

/* SEMAPHORE_TYPE 4:3, 1 without and 2 with the time; SEMAPHORE_PAYLOAD_SIZE 27 */
static void copy_release(const uint32_t *m, uint32_t value)
{
	bool wide = bits(value, 27, 27), timed = bits(value, 4, 3) == 2;
	release("copy", pair(m[SEM_A / 4], m[SEM_B / 4]),
			pair(wide ? m[SEM_PAYLOAD_UPPER / 4] : 0, m[SEM_PAYLOAD / 4]),
			timed  ? FOUR_WORDS
			: wide ? TWO_WORDS
				   : ONE_WORD);
}

void copy_method(const uint32_t *m, uint32_t method, uint32_t value)
{
	if (method != LAUNCH)
		return;
	if (bits(value, 1, 0)) /* DATA_TRANSFER_TYPE */
		transfer(m, value);
	if (bits(value, 4, 3))
		copy_release(m, value);
	if (bits(value, 6, 5)) /* INTERRUPT_TYPE */
		event_signal();
}
