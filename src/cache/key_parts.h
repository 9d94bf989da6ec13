/* Splits a key: which driver made it, for which GPU, from which payload. The grammar is that of
 * cache/key.h, with the keys of other programs in the same directory:
 *
 *     key     = stamp "HOST" bits "sm_" digits [suffix] payload "\0" tail
 *     stamp   = "Jun 25 2024" "01:14:48"
 *     payload = PTX text, with NULs of its own at its end (stored raw it is filled up to eight
 * bytes with NULs, and has none, nor the one before the tail, where it ends there: then all that
 * follows the target is taken for the payload) tail    = " " options | " -c" options             (a
 * module; an input of run-time linking) options " -arch=sm_86 -c"               libnvJitLink's,
 * under a stamp of its own options "-O4"                           JIT options of the application
 *
 *     OpenCL  = source … " -cl-nv-arch sm_75 " … "418.39\0" …          (value: PTX)
 *
 * Anything else is foreign: counted, reported, left alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "cache/entry.h"
#include "cache/key.h"

struct cache_key_parts {
	char stamp[CACHE_STAMP_SIZE + 1];
	uint16_t word_bits;      /* 64; 32 on very old systems */
	struct jw_target target; /* of the device */
	const uint8_t *payload;
	size_t payload_size;
	enum cache_key_form form; /* CACHE_KEY_LOAD or _LINK: text and container look the same here */
	bool jitlink;             /* made by libnvJitLink, with its own stamp */
	const char *options;      /* not terminated */
	size_t options_length;
};

/* False if the key does not belong to a CUDA module. The parts point into `key`. */
bool cache_key_split(const void *key, size_t size, struct cache_key_parts *ret_parts);

enum cache_kind { CACHE_KIND_CUDA, CACHE_KIND_OPENCL, CACHE_KIND_OTHER };

/* The maker of an entry, and its GPU. */
struct cache_origin {
	enum cache_kind kind;
	struct jw_target target;           /* sm 0 if unknown */
	char driver[CACHE_STAMP_SIZE + 1]; /* the stamp; for OpenCL the release ("418.39"); "" if
										  unknown */
};
void cache_entry_origin(const struct cache_entry *entry, struct cache_origin *ret_origin);
