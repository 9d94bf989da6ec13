/* Removes entries from the driver's cache that no program will look up any more.
 *
 * Threads: any number of threads may call these functions at the same time. In a process, one call
 * of jw_prune at a time per cache. */
#ifndef JITWARM_PRUNE_H
#define JITWARM_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>

struct jw_prune_options {
	const char *cache_dir; /* NULL: that of `system` */
	const struct jw_system *system;
	/* Entries of drivers that this machine had before: their stamp is in the table of known
	 * drivers, in a profile of a library that is gone, or of a driver that prime has worked for;
	 * not of one that it has worked for as another machine's alone. */
	bool former_drivers;
	const char *const *drivers; /* and of these: a release (535.309.01) or a stamp */
	size_t driver_count;
	/* Written longer ago than this; 0: any age. Alone it chooses all entries of that age that a
	 * known driver has made; with the choices above it narrows them. */
	uint64_t older_s;
	bool all;   /* every file in an entry's place, whatever made it, sound or not */
	bool apply; /* false: only report */
	struct jw_cancel cancel;
};

/* Entries with something in common. */
struct jw_prune_group {
	char driver[20]; /* stamp, or OpenCL's release; "" if unknown */
	struct jw_target target;
	bool newer; /* of those that stay: a driver that is newer than this machine's */
	size_t entries;
	uint64_t bytes; /* of their files */
};

struct jw_prune_result {
	char *path;
	size_t entries; /* in the cache before */
	uint64_t bytes;
	size_t chosen_entries;
	uint64_t chosen_bytes;
	struct jw_prune_group *groups; /* the chosen ones by driver and target */
	size_t group_count;
	/* Entries that stay by driver and target: of an unknown driver, or with former_drivers of a
	 * newer one, which may come. */
	struct jw_prune_group *staying;
	size_t staying_count;
	size_t removed;
	uint64_t removed_bytes;
	size_t changed;           /* they stay: rewritten meanwhile */
	size_t not_judged;        /* they stay: damaged, or they cannot be read */
	uint64_t longest_hold_ns; /* time with the driver's lock */
};

/* An entry with an unknown stamp may belong to a compiler library in use (nvJitLink): it is chosen
 * only if its stamp is named. Entries of unknown form are chosen by `all` alone. JW_ERR_UNSUPPORTED
 * if former drivers are asked for and this machine's is unknown. The caller frees with
 * jw_prune_result_free. */
int jw_prune(struct jw_error *err, const struct jw_prune_options *options,
			 struct jw_prune_result **ret_result);
void jw_prune_result_free(struct jw_prune_result *result);

#endif
