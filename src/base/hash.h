/* Hashes. FNV-1a-64 names the driver's cache entries (measured on five drivers,
 * docs/internals/driver-cache.md). BLAKE2b-256 identifies payloads (`b2sum -l 256`); libsodium
 * computes it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* Continues from `state` (FNV_START at first) over `size` bytes. Bound by one multiplication per
 * byte, about 1.1 GB/s. */
uint64_t fnv_update(uint64_t state, const void *data, size_t size);

/* One of several messages that are hashed side by side: continues from `state` and replaces it. */
struct fnv_lane {
	uint64_t state;
	const uint8_t *data;
	size_t size;
};

/* Hashes every lane to its end, several at a time, which hides the multiplications' latency (3 GB/s
 * and more per core). Lanes may have any sizes; adjacent lanes of similar size are fastest. */
void fnv_update_many(struct fnv_lane *lanes, size_t count);

#define DIGEST_SIZE 32

struct digest {
	uint8_t bytes[DIGEST_SIZE];
};

/* Computes the BLAKE2b-256 of one message. */
void digest_of(struct digest *ret_digest, const void *data, size_t size);
bool digest_equal(const struct digest *a, const struct digest *b);

#define DIGEST_TEXT_SIZE (2 * DIGEST_SIZE + 1)
/* Writes the digest in lower-case hexadecimal digits, with a NUL. */
void digest_text(char text[DIGEST_TEXT_SIZE], const struct digest *digest);
