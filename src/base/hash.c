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
 * quarter of it. */
enum { LANES = 8 };

static void step_lanes(struct fnv_lane *const lane[LANES], size_t size)
{
	uint64_t state[LANES];
	const uint8_t *data[LANES];

	for (size_t k = 0; k < LANES; k++) {
		state[k] = lane[k]->state;
		data[k] = lane[k]->data;
	}
	for (size_t i = 0; i < size; i++)
		for (size_t k = 0; k < LANES; k++)
			state[k] = (state[k] ^ data[k][i]) * FNV_PRIME;
	for (size_t k = 0; k < LANES; k++) {
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
		size_t shortest = SIZE_MAX;

		while (filled < LANES && taken < count) {
			if (lanes[taken].size)
				busy[filled++] = &lanes[taken];
			taken++;
		}
		if (filled < LANES)
			break;
		for (size_t k = 0; k < LANES; k++)
			shortest = busy[k]->size < shortest ? busy[k]->size : shortest;
		step_lanes(busy, shortest);
		filled = 0;
		for (size_t k = 0; k < LANES; k++)
			if (busy[k]->size)
				busy[filled++] = busy[k];
	}
	for (size_t k = 0; k < filled; k++) {
		busy[k]->state = fnv_update(busy[k]->state, busy[k]->data, busy[k]->size);
		busy[k]->data += busy[k]->size;
		busy[k]->size = 0;
	}
}

void digest_of_parts(struct digest *ret_digest, const struct digest_part *parts, size_t count)
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, DIGEST_SIZE);
	for (size_t i = 0; i < count; i++)
		crypto_generichash_update(&state, parts[i].data, parts[i].size);
	crypto_generichash_final(&state, ret_digest->bytes, DIGEST_SIZE);
}

void digest_of(struct digest *ret_digest, const void *data, size_t size)
{
	digest_of_parts(ret_digest, &(struct digest_part){data, size}, 1);
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
	return !memcmp(a->bytes, b->bytes, DIGEST_SIZE);
}

void digest_text(char text[DIGEST_TEXT_SIZE], const struct digest *digest)
{
	sodium_bin2hex(text, DIGEST_TEXT_SIZE, digest->bytes, DIGEST_SIZE);
}
