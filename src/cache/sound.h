/* The facts about an entry in its header, both ends of its key and the beginning of its value. An
 * entry may have 40 MB, and the rest contains no further facts. */
#pragma once

#include <stdatomic.h>

#include <jitwarm/system.h>

#include "base/cancel.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "code/cubin.h"
#include "os/file.h"

/* The number of bytes at each end of a key. The first 40 name driver and GPU, the last 100 hold the
 * options. OpenCL's facts follow the source. */
enum { CACHE_BRIEF_END = 16 << 10, CACHE_BRIEF_VALUE = 4 << 10 };

struct cache_brief {
	/* Points into `bytes`, behind the header: its key without the middle, its value's beginning. */
	struct cache_entry entry;
	uint64_t key_bytes, value_bytes; /* according to the header */
	uint8_t bytes[CACHE_ENTRY_HEADER + 2 * CACHE_BRIEF_END + CACHE_BRIEF_VALUE];
};

/* Reads header and bounds from an open file like cache_entry_parse; key and value of *ret_entry are
 * NULL. */
enum cache_damage cache_entry_open(struct os_file *file, struct cache_entry *ret_entry);

/* Reads the brief from an open file with this header (cache_entry_open). */
enum cache_damage cache_brief_read(struct os_file *file, const struct cache_entry *entry,
								   struct cache_brief *ret_brief);

/* Reads header and brief. */
enum cache_damage cache_brief_open(struct os_file *file, struct cache_brief *ret_brief);

/* Splits the key like cache_key_split; parts->payload may lack its middle, and payload_size is the
 * size of the whole. */
bool cache_brief_split(const struct cache_brief *brief, struct cache_key_parts *ret_parts);

/* The machine code of an entry, which a driver may be unable to load. A driver trusts a value with
 * a correct checksum: it never compiles a module again whose entry it cannot load, so the program
 * fails with it at every start (docs/internals/driver-cache.md, "Damage"). */

/* Returns whether a driver of the CUDA version `cuda` (0 if unknown) loads this ABI. Cubins of ABI
 * 8 need 12.8 or newer. */
bool cache_abi_loads(enum cubin_abi abi, uint32_t cuda);

/* Judges a cubin; `cubin` is NULL if the value is none. `device` and `form` are those of the
 * entry's key. */
enum cache_damage cache_cubin_damage(const struct cubin_header *cubin, struct jw_target device,
									 enum cache_key_form form, uint32_t cuda);

/* The current driver. Entries with its stamp are judged even if no table or kept profile has it. */
struct sound_driver {
	const char *stamp; /* "" if unknown */
	uint32_t cuda;     /* 0 if unknown */
};

/* Returns the driver of `info`, to which it refers; NULL gives zeros. */
struct sound_driver sound_driver_of(const struct jw_driver_info *info);

/* The knowledge about stamps; starts as zeros, except `driver`. */
struct cache_loads {
	struct sound_driver driver;
	char stamp[CACHE_STAMP_SIZE + 1]; /* the stamp that was judged last */
	bool known;                       /* it is a driver's stamp, not a compiler library's */
	uint32_t cuda;
};

/* An entry's value, and the facts in its key. */
struct cache_code {
	const struct cache_key_parts *parts;
	cubin_read_fn read;
	void *context;
	uint64_t size;
};

/* Judges the machine code. Code whose stamp is not a driver's counts as sound; so does an unknown
 * ABI if the stamp's driver is newer than the known ones. */
enum cache_damage cache_code_damage(struct cache_loads *loads, const struct cache_code *code);

/* Judges whether entries' files are sound: names and checksums, as a driver checks them, and
 * machine code that the driver loads, if the stamp in the key is a known driver's or the current
 * one's. Files are read in pieces, whatever their size, and several side by side, which makes
 * hashing fast (base/hash.h). They are read, not mapped, because a driver rewrites a damaged entry
 * in place. */
struct cache_sounding {
	const char *dir;
	struct sound_driver driver; /* zeros if only known drivers are judged */
	void *context;
	struct jw_cancel cancel; /* asked between files */
	/* For each key, the module whose entry it must be, or NULL for any (CACHE_DAMAGE_OTHER); NULL
	 * for all. */
	const struct jw_identity *const *identities;
	/* The number of the next file, which several calls share; NULL for one call. */
	atomic_size_t *next;
	/* Called once for each file, in any order; `brief` is NULL unless the entry is sound. */
	void (*judged)(void *context, size_t at, enum cache_damage damage,
				   const struct cache_brief *brief);
};

/* Judges the entries that `keys` name. A file that cannot be opened is CACHE_DAMAGE_READ. Uses 300
 * KB. JW_ERR_INTERRUPTED if cancelled. */
int cache_sound_all(struct jw_error *err, const struct cache_sounding *how, const uint64_t *keys,
					size_t count);

/* Judges one entry. */
enum cache_damage cache_sound(const char *dir, struct sound_driver driver, uint64_t key);
