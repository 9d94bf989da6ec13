/* The driver's cache directory: its content, and whether it is sound. Only jw_cache_repair
 * writes.
 *
 * Threads: in a process, one call of jw_cache_repair at a time per directory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/target.h>

struct jw_driver_info;

/* Whose entry it is: a BLAKE2b-256 of the module's PTX and options. The name of an entry does not
 * tell that: the driver makes it with FNV-1a-64, for which anyone can make PTX with a given name.
 */
struct jw_identity {
	uint8_t bytes[32];
};

/* The source of an entry. */
enum jw_cache_kind {
	JW_CACHE_CUDA,
	JW_CACHE_OPENCL, /* OpenCL source to PTX; the step from PTX on is JW_CACHE_CUDA */
	JW_CACHE_OTHER,  /* an unknown form, which is left alone */
};

struct jw_cache_damaged {
	uint64_t key;
	char name[20]; /* the file's path below the directory: "a/b/cdef0123456789" */
	const char *reason;
};

/* The reaction of a driver to the cache in its present state. */
struct jw_cache_outlook {
	const char *index; /* "sound", "missing", "empty", "truncated", "not an index", "a device", "a
						  pipe", "not a file"; "unknown" if it cannot be read */
	/* The driver's action when it next stores an entry. "adds"; "evicts_soon": it evicts before the
	 * limit is reached; "evicts": it evicts until the cache, which is larger than its limit, fits;
	 * "evicts_all": it evicts every entry and stores nothing, every time; "wipes": it deletes every
	 * entry (with a truncated index already at its next look-up); "nothing": it neither uses nor
	 * stores entries; "hangs": every program hangs at its first look-up. */
	const char *next_insert;
	bool harmful;   /* "evicts_all", "wipes", "nothing", "hangs", if there is something to lose;
					   jw_prime and jw_cache_repair repair it unless unknown_version */
	size_t entries; /* number of files */
	uint64_t bytes; /* the entries' bytes as the limit counts them */
	size_t evicted; /* for "evicts": at least this many entries go */
	uint64_t evicted_bytes;
	char text[256];     /* a line for messages; "" for "adds" */
	char next_step[64]; /* a line with the next step */
	/* Entries without a row, if the limit has room for all of them: drivers use them, and never
	 * evict them. A run that was killed leaves such entries; jw_prime and jw_cache_repair count
	 * them. Known only if the files were examined (jw_prime, jw_cache_verify). */
	size_t uncounted;
	/* 0, or the index's version, which jitwarm does not know: it changes nothing in this cache. */
	uint8_t unknown_version;
};

struct jw_cache_report {
	char *path;
	size_t entries, sound, damaged;
	uint64_t bytes; /* the bytes of the entries' files */
	size_t rows;
	size_t rows_without_file, files_without_row, rows_repeated;
	size_t foreign;  /* files and folders that do not belong to a driver's cache */
	size_t kinds[3]; /* the sound entries by enum jw_cache_kind */
	struct jw_cache_damaged *damaged_entries;
	struct jw_cache_outlook outlook;
	uint64_t index_bytes;      /* the total that the driver counts against its limit */
	uint64_t rows_bytes;       /* the correct total: the sum of the rows */
	uint64_t limit_bytes;      /* the driver's limit in effect */
	size_t rows_of_other_size; /* rows with another size than their file's: the driver counts too
								  much or too little */
};

struct jw_cache_options {
	const char *path;     /* NULL for the live cache of this account, by the environment */
	uint64_t limit_bytes; /* the driver's limit; 0 to take it from the environment */
	struct jw_cancel cancel;
	/* The current driver (jw_system). Machine code with its stamp is judged by whether that driver
	 * loads it, like code of known drivers; NULL to judge only code of known drivers. */
	const struct jw_driver_info *driver;
};

/* Reads every entry and checks its name and its value's checksum, as a driver would. A live cache
 * that does not exist yet gives an empty report; a `path` that does not exist is JW_ERR_NOT_FOUND.
 * JW_ERR_FORMAT if it is not a directory, or not a driver's cache; JW_ERR_UNSUPPORTED if the driver
 * does not cache with these settings; JW_ERR_IO if it cannot be read; JW_ERR_INTERRUPTED if
 * cancelled. The caller frees the report with jw_result_free. */
int jw_cache_verify(struct jw_error *err, const struct jw_cache_options *options,
					struct jw_cache_report **ret_report);

struct jw_cache_repaired {
	size_t removed;           /* entries that drivers would not have accepted */
	size_t counted;           /* files that had no row in the index */
	size_t dropped;           /* rows without files, and duplicate rows of a file */
	bool mended;              /* the index was unsound, or a size or the total in it was wrong */
	uint64_t longest_hold_ns; /* the longest time for which the driver's lock was held */
};

/* Removes entries that jw_cache_verify reports as damaged (except those of another format version
 * or that cannot be read) and makes the index agree with the files. Works beside running drivers
 * and holds the lock for a few milliseconds at a time. Foreign files are left alone. If it is
 * killed, the cache is sound, or the next run repairs it. JW_ERR_BUSY if another process holds the
 * lock; JW_ERR_UNSUPPORTED for an index of another version (nothing is removed); JW_ERR_IO;
 * JW_ERR_INTERRUPTED. */
int jw_cache_repair(struct jw_error *err, const struct jw_cache_options *options,
					struct jw_cache_repaired *ret_repaired);

struct jw_cache_cleared {
	char *path;
	size_t removed; /* entries that were removed; with dry_run, entries to remove */
	uint64_t removed_bytes;
	size_t stayed; /* entries that are no files, or were rewritten meanwhile */
};

/* Removes every file in an entry's place, whatever made it, sound or not. Works beside running
 * drivers and holds the lock for a few milliseconds at a time. Foreign files are left alone. Fails
 * like jw_cache_list and jw_cache_repair. The caller frees the result with jw_result_free. */
int jw_cache_clear(struct jw_error *err, const struct jw_cache_options *options, bool dry_run,
				   struct jw_cache_cleared **ret_cleared);

enum jw_cache_form {
	JW_CACHE_LOAD,    /* a module that is loaded */
	JW_CACHE_LINK,    /* an input of run-time linking */
	JW_CACHE_JITLINK, /* made by libnvJitLink */
};

struct jw_cache_entry {
	uint64_t key; /* the hash that is its name */
	bool in_index;
	bool damaged; /* damaged according to its header; values are not hashed */
	enum jw_cache_kind kind;
	enum jw_cache_form form;
	struct jw_target target; /* sm is 0 if unknown */
	char driver[20];         /* stamp, or OpenCL's release; "" if unknown */
	char options[80];        /* the compiler options in its key; longer ones are truncated */
	uint64_t payload_bytes;  /* the size of the PTX, or OpenCL source */
	uint64_t value_bytes;    /* the size of the cubin */
	uint64_t file_bytes;
	int64_t mtime_ns;
};

struct jw_cache_listing {
	char *path;
	/* In the driver's order of eviction; entries without a row come last. */
	struct jw_cache_entry *entries;
	size_t count;
};

/* Lists the entries by their first bytes. Errors as for jw_cache_verify. The caller frees the list
 * with jw_result_free. */
int jw_cache_list(struct jw_error *err, const struct jw_cache_options *options,
				  struct jw_cache_listing **ret_list);

/* Returns the release of a known driver by its stamp ("550.163.01"), or NULL if it is unknown. */
const char *jw_cache_driver_of_stamp(const char *stamp);
