/* Removes entries from the driver's cache that no program will look up any more.
 *
 * Threads: in a process, one call of jw_prune at a time per cache. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>

struct jw_prune_options {
	const char *cache_dir; /* NULL for that of `system` */
	const struct jw_system *system;
	/* Choose entries of drivers that this machine had before: their stamp is in the table of known
	 * drivers, in a profile of a library that is gone, or belongs to a driver that prime has worked
	 * for, but not only as another machine's. */
	bool former_drivers;
	const char *const
		*drivers; /* and entries of these drivers: a release (535.309.01) or a stamp */
	size_t driver_count;
	/* Choose entries written longer ago than this; 0 for any age. Without other choices it chooses
	 * all entries of that age that a known driver has made; with the choices above it narrows
	 * them. */
	uint64_t older_s;
	bool all;   /* choose every file in an entry's place, whatever made it, sound or not */
	bool apply; /* false to report only */
	struct jw_cancel cancel;
};

/* Entries that share these values. */
struct jw_prune_group {
	char driver[20]; /* stamp, or OpenCL's release; "" if unknown */
	struct jw_target target;
	bool newer; /* for entries that stay: a driver that is newer than this machine's */
	size_t entries;
	uint64_t bytes; /* the size of their files */
};

struct jw_prune_result {
	char *path;
	size_t entries; /* entries in the cache before the call */
	uint64_t bytes;
	size_t chosen_entries;
	uint64_t chosen_bytes;
	struct jw_prune_group *groups; /* the chosen entries by driver and target */
	size_t group_count;
	/* The entries that stay, by driver and target: those of an unknown driver, or, with
	 * former_drivers, of a newer one, which may be installed later. */
	struct jw_prune_group *staying;
	size_t staying_count;
	size_t removed;
	uint64_t removed_bytes;
	size_t changed;           /* entries that stay because they were rewritten meanwhile */
	size_t not_judged;        /* entries that stay because they are damaged, or cannot be read */
	uint64_t longest_hold_ns; /* the longest time for which the driver's lock was held */
};

/* Removes entries. An entry with an unknown stamp may belong to a compiler library in use
 * (nvJitLink), so it is chosen only if its stamp is named. Entries of unknown form are chosen only
 * by `all`. JW_ERR_UNSUPPORTED if former drivers are requested and this machine's is unknown;
 * otherwise errors as for jw_cache_list and jw_cache_repair. The caller frees the result with
 * jw_result_free. */
int jw_prune(struct jw_error *err, const struct jw_prune_options *options,
			 struct jw_prune_result **ret_result);
