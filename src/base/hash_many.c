/* BLAKE2b-256 (RFC 7693) of several messages side by side, each in a lane of a vector. A single
 * message leaves the processor idle, since each step needs the one before. When a message ends, the
 * next one begins in its lane. */
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"

/* Without AVX2 libsodium is as fast. Not on Windows, where gcc does not align spilled registers */
#if defined(__x86_64__) && defined(__ELF__)
#define SIDE_BY_SIDE
#endif

#ifdef SIDE_BY_SIDE

enum { LANES = 4, WORDS = 16, BLOCK = 128 };

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static const uint64_t start[8] = {UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
								  UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
								  UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
								  UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};

/* Parameters of a hash of 32 bytes, without a key, in sequence. */
#define PARAMETERS UINT64_C(0x01010020)

struct state {
	lanes h[8];
	lanes counter, final; /* bytes of the blocks so far; all ones for a last block */
	struct digest_message *message[LANES]; /* NULL: an idle lane */
	const uint8_t *block[LANES];
	size_t step[LANES];         /* distance between blocks; 0 in an idle lane */
	size_t left[LANES];         /* bytes */
	uint8_t last[LANES][BLOCK]; /* a last block, padded with zeros */
};

#define ROTATE(x, n) ((x) >> (n) | (x) << (64 - (n)))

#define MIX(a, b, c, d, x, y)                                                                      \
	do {                                                                                           \
		v[a] += v[b] + m[x];                                                                       \
		v[d] = ROTATE(v[d] ^ v[a], 32);                                                            \
		v[c] += v[d];                                                                              \
		v[b] = ROTATE(v[b] ^ v[c], 24);                                                            \
		v[a] += v[b] + m[y];                                                                       \
		v[d] = ROTATE(v[d] ^ v[a], 16);                                                            \
		v[c] += v[d];                                                                              \
		v[b] = ROTATE(v[b] ^ v[c], 63);                                                            \
	} while (0)

#define ROUND(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf)                      \
	do {                                                                                           \
		MIX(0, 4, 8, 12, s0, s1);                                                                  \
		MIX(1, 5, 9, 13, s2, s3);                                                                  \
		MIX(2, 6, 10, 14, s4, s5);                                                                 \
		MIX(3, 7, 11, 15, s6, s7);                                                                 \
		MIX(0, 5, 10, 15, s8, s9);                                                                 \
		MIX(1, 6, 11, 12, sa, sb);                                                                 \
		MIX(2, 7, 8, 13, sc, sd);                                                                  \
		MIX(3, 4, 9, 14, se, sf);                                                                  \
	} while (0)

/* Compresses one block of every lane. Inlined into one function per kind of processor. */
static inline __attribute__((always_inline)) void compress_lanes(struct state *state)
{
	lanes m[WORDS], v[WORDS];

	for (size_t i = 0; i < WORDS; i++)
		m[i] = (lanes){load_u64(state->block[0] + 8 * i), load_u64(state->block[1] + 8 * i),
					   load_u64(state->block[2] + 8 * i), load_u64(state->block[3] + 8 * i)};
	for (size_t i = 0; i < 8; i++) {
		v[i] = state->h[i];
		v[i + 8] = (lanes){start[i], start[i], start[i], start[i]};
	}
	v[12] ^= state->counter;
	v[14] ^= state->final;
	ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
	ROUND(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4);
	ROUND(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8);
	ROUND(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13);
	ROUND(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9);
	ROUND(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11);
	ROUND(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10);
	ROUND(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5);
	ROUND(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0);
	ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
	for (size_t i = 0; i < 8; i++)
		state->h[i] ^= v[i] ^ v[i + 8];
}

static inline __attribute__((always_inline)) void compress_blocks(struct state *state, size_t count)
{
	while (count-- > 0) {
		state->counter += BLOCK;
		compress_lanes(state);
		for (size_t k = 0; k < LANES; k++)
			state->block[k] += state->step[k];
	}
}

typedef void (*compress_fn)(struct state *state, size_t count);

__attribute__((target("avx2"))) static void compress_avx2(struct state *state, size_t count)
{
	compress_blocks(state, count);
}

/* The same with single-step rotations. */
__attribute__((target("avx2,avx512f,avx512vl"))) static void compress_avx512(struct state *state,
																			 size_t count)
{
	compress_blocks(state, count);
}

static compress_fn choose_compress(void)
{
	return __builtin_cpu_supports("avx512vl") ? compress_avx512
		   : __builtin_cpu_supports("avx2")   ? compress_avx2
											  : NULL;
}

static void begin_message(struct state *state, size_t k, struct digest_message *message)
{
	for (size_t i = 0; i < 8; i++)
		state->h[i][k] = start[i] ^ (i ? 0 : PARAMETERS);
	state->counter[k] = 0;
	state->final[k] = 0;
	state->message[k] = message;
	state->block[k] = message ? message->data : state->last[k];
	state->left[k] = message ? message->size : 0;
	state->step[k] = message ? BLOCK : 0;
}

/* Blocks before the last one that every lane has; SIZE_MAX if all lanes are idle. */
static size_t count_blocks(const struct state *state)
{
	size_t count = SIZE_MAX;

	for (size_t k = 0; k < LANES; k++) {
		size_t blocks = state->left[k] ? (state->left[k] - 1) / BLOCK : 0;

		if (state->message[k] && blocks < count)
			count = blocks;
	}
	return count;
}

/* Prepares the last block of the lanes that have reached it. */
static void prepare_last(struct state *state)
{
	for (size_t k = 0; k < LANES; k++) {
		if (!state->message[k] || state->left[k] > BLOCK)
			continue;
		memset(state->last[k], 0, BLOCK);
		memcpy(state->last[k], state->block[k], state->left[k]);
		state->block[k] = state->last[k];
		state->counter[k] += state->left[k] - BLOCK;
		state->final[k] = UINT64_MAX;
	}
}

static void hash_lanes(compress_fn compress_some, struct digest_message *messages, size_t count)
{
	struct state state;
	size_t next = 0, blocks;

	memset(&state, 0, sizeof state);
	for (size_t k = 0; k < LANES; k++, next++)
		begin_message(&state, k, next < count ? &messages[next] : NULL);
	while ((blocks = count_blocks(&state)) != SIZE_MAX) {
		compress_some(&state, blocks);
		for (size_t k = 0; k < LANES; k++)
			if (state.message[k])
				state.left[k] -= blocks * BLOCK;
		prepare_last(&state);
		compress_some(&state, 1);
		for (size_t k = 0; k < LANES; k++) {
			if (!state.message[k])
				continue;
			if (!state.final[k]) {
				state.left[k] -= BLOCK;
				continue;
			}
			for (size_t i = 0; i < DIGEST_SIZE / 8; i++)
				store_u64(state.message[k]->digest.bytes + 8 * i, state.h[i][k]);
			begin_message(&state, k, next < count ? &messages[next] : NULL);
			next++;
		}
	}
}

#endif

void digest_of_many(struct digest_message *messages, size_t count)
{
#ifdef SIDE_BY_SIDE
	compress_fn compress_some = count > 1 ? choose_compress() : NULL;

	if (compress_some) {
		hash_lanes(compress_some, messages, count);
		return;
	}
#endif
	for (size_t i = 0; i < count; i++)
		digest_of(&messages[i].digest, messages[i].data, messages[i].size);
}
