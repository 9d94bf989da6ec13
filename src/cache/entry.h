/* Entries: the files of the driver's cache. Source: docs/internals/driver-cache.md, "Files".
 *
 *     <cache>/h/h/hhhhhhhhhhhhhh      16 lower-case hex digits of FNV-1a-64(key), split 1/1/14
 *
 *     entry    = u32 version (0x41) · u64 key_bytes · u64 value_bytes · u64 FNV-1a-64(value)
 *                · key · value · anything                              little endian, packed
 *
 * The driver accepts a file that is longer, but not one that is shorter. The value of a CUDA entry
 * is a cubin; OpenCL's entries (value: PTX) share the directory. cache/key.h has the grammar of
 * keys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>

#include "base/error.h"
#include "os/file.h"

enum {
	CACHE_VERSION = 0x41,
	CACHE_ENTRY_HEADER = 28,
	CACHE_NAME_SIZE = 19, /* "h/h/hhhhhhhhhhhhhh" and its NUL */
};

/* The largest entry: a driver keeps 4 GiB in all, and the largest cubin seen has 40 MB. */
#define CACHE_MAX_ENTRY ((size_t)1 << 30)

/* Why the driver refuses an entry, its name is wrong, or programs fail with it. */
enum cache_damage {
	CACHE_SOUND,
	CACHE_DAMAGE_EMPTY,     /* 0 bytes: a write that never happened (full disk, power loss) */
	CACHE_DAMAGE_HEADER,    /* shorter than a header */
	CACHE_DAMAGE_VERSION,   /* not 0x41 */
	CACHE_DAMAGE_TRUNCATED, /* shorter than its header says */
	CACHE_DAMAGE_NAME,      /* its key belongs to another file name */
	CACHE_DAMAGE_VALUE,     /* the value's checksum is wrong */
	CACHE_DAMAGE_READ,      /* the file cannot be read */
	CACHE_DAMAGE_FOLDER,    /* it is a folder, which no driver replaces by an entry */
	CACHE_DAMAGE_ACCOUNT,   /* another account can have written root's entry */
	/* The driver uses these entries, but fails with them (cache/sound.h). */
	CACHE_DAMAGE_CUBIN,  /* the value is not machine code */
	CACHE_DAMAGE_GPU,    /* machine code for other GPUs than the key names */
	CACHE_DAMAGE_ABI,    /* machine code of an ABI that the key's driver does not know */
	CACHE_DAMAGE_LINKED, /* linked machine code where a link needs relocatable code */
	/* The entry is another module's, so the driver compiles this one (cache_key_identity). */
	CACHE_DAMAGE_OTHER,
};
/* Returns "shorter than its header says", and so on. */
const char *cache_damage_text(enum cache_damage damage);

struct cache_entry {
	const uint8_t *key, *value; /* point into the parsed bytes */
	uint64_t key_bytes, value_bytes;
	uint64_t checksum;
	uint64_t extra_bytes; /* the bytes after the value, which the driver ignores */
};

/* Parses header and bounds; hashes neither key nor value. *ret_entry is set only for
 * CACHE_SOUND. */
enum cache_damage cache_entry_parse(const void *file, size_t size, struct cache_entry *ret_entry);
/* Parses a file of `size` bytes from its first `got` bytes; CACHE_ENTRY_HEADER of them are enough.
 * Key and value of *ret_entry are NULL. */
enum cache_damage cache_entry_header_read(const void *header, size_t got, uint64_t size,
										  struct cache_entry *ret_entry);
/* Parses, and hashes key (against `name`) and value, as the driver does before it uses a value. */
enum cache_damage cache_entry_verify(const void *file, size_t size, uint64_t name,
									 struct cache_entry *ret_entry);
/* Writes the bytes that precede key and value. */
void cache_entry_header(uint8_t header[CACHE_ENTRY_HEADER], uint64_t key_bytes,
						uint64_t value_bytes, uint64_t checksum);

/* Writes the name of an entry, "a/b/cdef0123456789"; returns `name`. */
const char *cache_entry_name(char name[CACHE_NAME_SIZE], uint64_t key);
/* Reads the key's hash from the last parts of a path ("a", "b", "cdef0123456789"); false for
 * foreign names. */
bool cache_entry_key(const char *first, const char *second, const char *rest, uint64_t *ret_key);
/* Returns the path of the entry's file below the cache directory `dir`; the caller frees it. */
char *cache_entry_path(const char *dir, uint64_t key);

/* The state of an entry, by its header and size, which takes a few microseconds. cache/sound.h
 * hashes values, and cache/verified.h remembers the results. */
enum cache_presence {
	CACHE_ABSENT,
	CACHE_PRESENT,  /* found, and usable unless its value is damaged */
	CACHE_UNUSABLE, /* exists, but the driver will compile the module: damaged, unreadable, not a
					   regular file */
};

/* The facts by which a caller can detect later that the file has changed. */
struct cache_probed {
	struct os_stat stat;
	uint64_t key_bytes, value_bytes, checksum; /* according to the header */
	enum cache_damage damage;
};

/* Opens an entry's file, unless `stat` has another kind. CACHE_DAMAGE_READ,
 * CACHE_DAMAGE_FOLDER or CACHE_DAMAGE_ACCOUNT on failure. */
enum cache_damage cache_file_open(const char *path, const struct os_stat *stat,
								  struct os_file **ret_file);
/* Looks for `key` below `dir`. With an `identity`, the key is read, and only the entry of that
 * module is present: another one under its name is CACHE_DAMAGE_OTHER. NULL for any entry.
 * *ret_probed (may be NULL) is set unless the entry is absent. */
enum cache_presence cache_presence(const char *dir, uint64_t key,
								   const struct jw_identity *identity,
								   struct cache_probed *ret_probed);
/* Computes the identity of the key of an open entry with this header; -1 if it cannot be read. */
int cache_entry_identity(struct os_file *file, const struct cache_entry *entry,
						 struct jw_identity *ret_identity);
/* Computes that of the entry `key` below `dir`. */
int cache_entry_identity_at(const char *dir, uint64_t key, struct jw_identity *ret_identity);
