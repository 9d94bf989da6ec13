/* Keys: the bytes that the driver hashes to name a module's entry. Source:
 * docs/internals/driver-cache.md, "Key".
 *
 *     key = stamp "HOST64" "sm_NN" payload "\0" " " options          a module that is loaded
 *     key = stamp "HOST64" "sm_NN" payload "\0" " -c" options        an input of run-time linking
 *
 * `payload` is the PTX image of the fat binary, decompressed, with its own trailing NULs; `options`
 * is the entry's option string verbatim. For parts of kind 0x40 the payload ends before its first
 * NUL, and the entry's options are ignored. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>
#include <jitwarm/target.h>

#include "base/hash.h"
#include "cache/stamp.h"

enum cache_key_form {
	CACHE_KEY_LOAD, /* a container that cuModuleLoadDataEx or the CUDA runtime's registration loads
					 */
	CACHE_KEY_LINK, /* an input of cuLinkAddData */
	CACHE_KEY_TEXT, /* PTX text without a container: its payload ends before the first NUL */
};

/* The lengths of "HOST64" and of the longest start of a key: stamp, "HOST64" and "sm_120". */
enum { CACHE_KEY_HOST = 6, CACHE_KEY_MAX_START = CACHE_STAMP_SIZE + CACHE_KEY_HOST + 9 };

/* Writes stamp, word size and architecture: the beginning of every key of this driver and GPU.
 * Returns its length; 0 without a stamp. */
size_t cache_key_write_start(char start[CACHE_KEY_MAX_START + 1], const char *stamp,
							 struct jw_target target);

/* Returns the hash of that beginning. `sm` is the device's capability without suffix. *ret_length
 * (may be NULL) is the length of the beginning. Both are 0 for an empty stamp,
 * which has no keys. */
uint64_t cache_key_start(const char *stamp, uint16_t sm, size_t *ret_length);

/* Returns the length of a payload in the key: all of it, or, for text, the bytes before its first
 * NUL. */
size_t cache_key_payload(enum cache_key_form form, const void *payload, size_t payload_size);

/* Writes the bytes after the payload into `tail` and returns their length; 0 if there are more
 * than CACHE_KEY_MAX_OPTIONS bytes of options (the longest seen has 71). The driver reads options
 * up to a NUL, whatever their length field is. */
enum { CACHE_KEY_MAX_OPTIONS = 4095, CACHE_KEY_MAX_TAIL = CACHE_KEY_MAX_OPTIONS + 4 };
size_t cache_key_tail(char tail[CACHE_KEY_MAX_TAIL], enum cache_key_form form, const char *options,
					  size_t options_length);

/* The parts of a key, except the driver. */
struct cache_key_input {
	uint16_t sm; /* the device's capability without suffix */
	enum cache_key_form form;
	const void *payload;
	size_t payload_size;
	const char *options; /* not terminated; may be NULL if it is empty */
	size_t options_length;
	bool bare; /* the payload has no NUL of its own, so the key has none either */
};

/* Returns the hash of one key, which names its entry, and its length in bytes (ret_key_bytes may be
 * NULL); 0 and 0 if the stamp is empty or the options are too long. For many modules at once,
 * build the lanes of fnv_update_many from the functions above. */
uint64_t cache_key_hash(const char *stamp, const struct cache_key_input *input,
						uint64_t *ret_key_bytes);

/* The identity of a key: the only thing that says whether an entry is a module's. FNV-1a-64, which
 * names entries, is no cryptographic hash: ten bytes of a comment give PTX any name and length, and
 * the driver compares the whole key.
 *
 *     key      = start payload rest         payload: as cache_key_split splits it; rest: from its
 * NUL identity = BLAKE2b-256(BLAKE2b-256(payload) rest)
 *
 * The start (driver and GPU) is in the name: for equal names and identities it is equal, too. */
void cache_key_identity(struct jw_identity *ret_identity, const struct digest *payload,
						const void *rest, size_t rest_size);
/* Returns the identity of a key, or of one whose start is left out, in two parts. */
void cache_key_identity_of(struct jw_identity *ret_identity, const void *key, size_t size);
void cache_key_identity_of_rest(struct jw_identity *ret_identity, const void *body,
								size_t body_size, const void *tail, size_t tail_size);
/* Reads `size` bytes of a key at `offset`; fewer are a failure. */
typedef int (*cache_key_read_fn)(void *context, uint64_t offset, void *data, size_t size);
/* Computes the identity of a key of any size in pieces; -1 if it cannot be read. */
int cache_key_identity_by(struct jw_identity *ret_identity, cache_key_read_fn read, void *context,
						  uint64_t size);
bool cache_identity_equal(const struct jw_identity *a, const struct jw_identity *b);
/* Returns a hash of an identity, for sets. */
uint64_t cache_identity_hash(const struct jw_identity *identity);

/* Reads an identity in hex; false for any other text. */
bool cache_identity_read(const char *text, struct jw_identity *ret_identity);

/* Splits a key: which driver made it, for which GPU, from which payload. The grammar is that of
 * cache/key.h, with the keys of other programs in the same directory:
 *
 *     key     = stamp "HOST" bits "sm_" digits [suffix] payload "\0" tail
 *     stamp   = "Jun 25 2024" "01:14:48"
 *     payload = PTX text, with NULs of its own at its end
 *     tail    = " " options | " -c" options    a module; an input of run-time linking
 *     options = " -arch=sm_86 -c"              libnvJitLink's, under a stamp of its own
 *             | "-O4" | …                      of the container, or of the application
 *
 * PTX that is stored raw is filled up to eight bytes with NULs. Where it fills them it has none,
 * nor has the key one before the tail: all that follows the target is taken for the payload.
 *
 *     OpenCL  = source … " -cl-nv-arch sm_75 " … "418.39\0" …          (value: PTX)
 *
 * Anything else is foreign: counted, reported, left alone */
struct cache_key_parts {
	char stamp[CACHE_STAMP_SIZE + 1];
	uint16_t word_bits;      /* 64; 32 on very old systems */
	struct jw_target target; /* of the device */
	const uint8_t *payload;
	size_t payload_size;
	enum cache_key_form form; /* CACHE_KEY_LOAD or _LINK: a text's key looks like a container's */
	bool jitlink;             /* made by libnvJitLink, which has its own stamp */
	const char *options;      /* not terminated */
	size_t options_length;
};

/* Returns whether libnvJitLink made the entry with these options. */
bool cache_key_is_jitlink(const char *options, size_t length);

/* Splits a key; false if it does not belong to a CUDA module. The parts point into `key`. */
bool cache_key_split(const void *key, size_t size, struct cache_key_parts *ret_parts);

/* The maker of an entry, and its GPU. */
struct cache_origin {
	enum jw_cache_kind kind;
	struct jw_target target;           /* sm is 0 if unknown */
	char driver[CACHE_STAMP_SIZE + 1]; /* the stamp; for OpenCL the release ("418.39"); "" if
										  unknown */
};
void cache_origin_of(const uint8_t *key, size_t key_size, const uint8_t *value, size_t value_size,
					 struct cache_origin *ret_origin);
