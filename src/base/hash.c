#include "base/hash.h"

#include <sodium.h>
#include <string.h>

uint64_t fnv_update(uint64_t state, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		state = (state ^ bytes[i]) * FNV_PRIME;
	return state;
}

/* Eight lanes keep the multiplier busy: its latency is three to four cycles, and one lane uses a
 * quarter of it. Two and four lanes take the rest. */
enum { LANES = 8 };

/* `count` is constant at every call, so that the lanes' states stay in registers. */
static inline __attribute__((always_inline)) void step_lanes(struct fnv_lane *const *lane,
															 size_t count, size_t size)
{
	uint64_t state[LANES];
	const uint8_t *data[LANES];

	for (size_t k = 0; k < count; k++) {
		state[k] = lane[k]->state;
		data[k] = lane[k]->data;
	}
	for (size_t i = 0; i < size; i++)
#pragma GCC unroll 8
		for (size_t k = 0; k < count; k++)
			state[k] = (state[k] ^ data[k][i]) * FNV_PRIME;
	for (size_t k = 0; k < count; k++) {
		lane[k]->state = state[k];
		lane[k]->data += size;
		lane[k]->size -= size;
	}
}

void fnv_update_many(struct fnv_lane *lanes, size_t count)
{
	struct fnv_lane *busy[LANES];
	size_t taken = 0, filled = 0;

	for (;;) {
		size_t left = 0, together, size;

		while (filled < LANES && taken < count) {
			if (lanes[taken].size)
				busy[filled++] = &lanes[taken];
			taken++;
		}
		if (!filled)
			break;
		/* Hashes as many lanes as fit side by side, to the end of the shortest one. */
		together = filled >= 8 ? 8 : filled >= 4 ? 4 : filled >= 2 ? 2 : 1;
		size = busy[0]->size;
		for (size_t k = 1; k < together; k++)
			size = busy[k]->size < size ? busy[k]->size : size;
		switch (together) {
		case 8: step_lanes(busy, 8, size); break;
		case 4: step_lanes(busy, 4, size); break;
		case 2: step_lanes(busy, 2, size); break;
		default: step_lanes(busy, 1, size);
		}
		for (size_t k = 0; k < filled; k++)
			if (busy[k]->size)
				busy[left++] = busy[k];
		filled = left;
	}
}

void digest_of(struct digest *ret_digest, const void *data, size_t size)
{
	crypto_generichash(ret_digest->bytes, DIGEST_SIZE, data, size, NULL, 0);
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
	return !memcmp(a->bytes, b->bytes, DIGEST_SIZE);
}

void digest_text(char text[DIGEST_TEXT_SIZE], const struct digest *digest)
{
	sodium_bin2hex(text, DIGEST_TEXT_SIZE, digest->bytes, DIGEST_SIZE);
}
