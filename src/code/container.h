#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "code/devcode.h"

/* One fat binary: finding it, checking it, reading its entries. Source: docs/internals/fatbin.md,
 * "Container".
 *
 * The magic also occurs by chance, so a place counts as a container only if its walk ends exactly
 * at its end. The walk accepts its input piece by piece, for containers in a stream. The bytes may
 * change between two calls (os/file.h, os_map). */
enum {
	CONTAINER_HEADER = 16,
	CONTAINER_START_SIZE = 8,
	CONTAINER_ALIGN = 8, /* the sizes within a container are multiples of it */
	CONTAINER_ENTRY = 64,
	CONTAINER_MAX_ENTRY_HEADER = 1 << 20, /* holds option strings and names */
};

/* Magic 0xBA55ED50, version 1, header size 16, as one little-endian number. */
#define CONTAINER_START UINT64_C(0x00100001BA55ED50)
/* Returns CONTAINER_START for a container that is written, or searched. If a compiler knew the
 * number, it would put it into this program's data, and a scan of this program would find a
 * container. */
static inline uint64_t container_start(void)
{
	volatile uint64_t start = CONTAINER_START;

	return start;
}

/* The flags of an entry. */
enum {
	CONTAINER_LZ4 = 0x2000,
	CONTAINER_ZSTD = 0x8000,
	CONTAINER_OLD_COMPRESSION = 0x1000,
	CONTAINER_OBFUSCATED = 0x10000,
	CONTAINER_SUFFIX_A = 0x100000,
	CONTAINER_SUFFIX_F = 0x200000,
	CONTAINER_COMPAT =
		0x1000000, /* its options are the cubin's .nv.compat, after an empty string */
};

enum container_state {
	CONTAINER_SOUND,
	CONTAINER_BROKEN, /* a chance hit, or damage */
	CONTAINER_MORE,   /* more bytes are needed: `needed` */
};

/* The position of the walk; starts as {0}. */
struct container_walk {
	uint64_t at;         /* next entry, from the container's start */
	uint64_t size_bytes; /* the size of the container with its header, once `at` is not 0 */
	uint64_t needed;     /* for CONTAINER_MORE */
	size_t entries;
};

/* Continues the walk over the first `have` bytes of a possible container. `most` is the number of
 * bytes that can ever follow: up to the end of the section or file, UINT64_MAX if unknown. */
enum container_state container_check(struct container_walk *walk, const uint8_t *bytes,
									 uint64_t have, uint64_t most);

/* Takes the next step of the walk over the CONTAINER_ENTRY bytes that begin an entry; false if they
 * begin none. *ret_header is the size of the entry's header; the payload lies after it, up to
 * walk->at. */
bool container_step(struct container_walk *walk, const uint8_t *entry, uint32_t *ret_header);

/* Reads the `walk->entries` entries of a sound container into an array that has room for them.
 * `offset` is the place of the container in its image. If the headers are no longer those of the
 * walk, the first one that does not fit and all after it are damaged. */
void container_entries(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
					   struct devcode_entry *entries, size_t count);
/* Reads one entry. Its header is at `at` of the first `size_bytes` bytes; its payload follows, for
 * a cubin at least the first CONTAINER_CUBIN_HEAD bytes. `offset` is the place of the first byte in
 * the image. Returns the distance to the next entry, which may be outside of the bytes; 0 if no
 * header is there: the entry is damaged. */
enum { CONTAINER_CUBIN_HEAD = 4096 };
uint64_t container_entry(const uint8_t *bytes, uint64_t size_bytes, uint64_t at, uint64_t offset,
						 struct devcode_entry *entry);
/* Sets first_cuda and compiler_cuda from the first stored bytes of a cubin. */
void container_cubin(struct devcode_entry *entry, const uint8_t *stored, uint64_t size);
