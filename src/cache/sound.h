/* Facts about an entry from its header, both ends of its key and the beginning of its value. An
 * entry may have 40 MB, and the rest contains no further facts. */
#pragma once

#include <stdatomic.h>

#include <jitwarm/system.h>

#include "base/cancel.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "code/cubin.h"
#include "os/file.h"

/* Bytes of each end of a key. The first 40 name driver and GPU, the last 100 hold the options.
 * OpenCL's facts follow the source. */
enum { CACHE_BRIEF_END = 16 << 10, CACHE_BRIEF_VALUE = 4 << 10 };

struct cache_brief {
	struct cache_entry entry; /* its key without the middle, its value's beginning: in `bytes` */
	uint64_t key_bytes, value_bytes; /* as the header says */
	uint8_t bytes[2 * CACHE_BRIEF_END + CACHE_BRIEF_VALUE];
};

/* Header and bounds, as cache_entry_parse; key and value of *ret_entry are NULL. */
enum cache_damage cache_entry_open(struct os_file *file, struct cache_entry *ret_entry);

/* Reads from an open file with this header (cache_entry_open). */
enum cache_damage cache_brief_read(struct os_file *file, const struct cache_entry *entry,
								   struct cache_brief *ret_brief);

/* Both. */
enum cache_damage cache_brief_open(struct os_file *file, struct cache_brief *ret_brief);

/* As cache_key_split, except parts->payload, which may lack its middle; payload_size is the size of
 * the whole. */
bool cache_brief_split(const struct cache_brief *brief, struct cache_key_parts *ret_parts);

/* Whether a driver loads the machine code of an entry. A driver trusts a value with a correct
 * checksum: it never compiles a module again whose entry it cannot load, so the program fails with
 * it at every start (docs/internals/driver-cache.md, "Damage"). */

/* `cuda`: the CUDA version of the driver, 0 if unknown. Cubins of ABI 8 need 12.8 or newer. */
bool cache_abi_loads(enum cubin_abi abi, uint32_t cuda);

/* `cubin` NULL: the value is not a cubin. `device` and `form` are those of the entry's key. */
enum cache_damage cache_cubin_damage(const struct cubin_header *cubin, struct jw_target device,
									 enum cache_key_form form, uint32_t cuda);

/* The current driver. Entries with its stamp are judged even if no table or kept profile has it. */
struct sound_driver {
	const char *stamp; /* "" if unknown */
	uint32_t cuda;     /* 0 if unknown */
};

/* NULL: zeros. It refers to `info`. */
struct sound_driver sound_driver_of(const struct jw_driver_info *info);

/* Initially zeros, except `driver`. */
struct cache_loads {
	struct sound_driver driver;
	char stamp[CACHE_STAMP_SIZE + 1]; /* the stamp of the last judgement */
	bool known;                       /* a driver's stamp, not a compiler library's */
	uint32_t cuda;
};

/* An entry's value, and the facts in its key. */
struct cache_code {
	const struct cache_key_parts *parts;
	cubin_read_fn read;
	void *context;
	uint64_t size;
};

/* Code with stamps that are not a driver's counts as sound; so does an unknown ABI with the stamp
 * of a driver newer than the known ones. */
enum cache_damage cache_code_damage(struct cache_loads *loads, const struct cache_code *code);

/* Whether entries' files are sound: names and checksums, as a driver checks them, and machine code
 * that the driver loads, if the stamp in the key is a known driver's or the current one's. Files
 * are read in pieces, whatever their size, and several side by side, which makes hashing fast
 * (base/hash.h). They are read, not mapped: a driver rewrites a damaged entry in place. */
struct cache_sounding {
	const char *dir;
	struct sound_driver driver; /* zeros: known drivers only */
	void *context;
	struct jw_cancel cancel; /* polled between files */
	atomic_size_t *next; /* the next file, for several calls that share the files; NULL: one call */
	/* Called once for each, in any order; `brief` is NULL unless the entry is sound. */
	void (*judged)(void *context, size_t at, enum cache_damage damage,
				   const struct cache_brief *brief);
};

/* `keys`: the entries' names. Files that cannot be opened are CACHE_DAMAGE_READ. Takes 300 KB.
 * JW_ERR_INTERRUPTED: cancelled. */
int cache_sound_all(struct jw_error *err, const struct cache_sounding *how, const uint64_t *keys,
					size_t count);

/* Judges one entry. */
enum cache_damage cache_sound(const char *dir, struct sound_driver driver, uint64_t key);
