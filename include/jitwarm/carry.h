/* Reuses entries after a change of drivers within one CUDA minor version. Its drivers compile to
 * the same bytes, so entries of the live cache and of the store with another driver's stamp get the
 * present driver's. That takes seconds; compiling them takes minutes.
 *
 * Threads: in a process, one call of jw_carry at a time per cache. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>
#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>

/* Modules that one driver has compiled. */
struct jw_carry_group {
	char driver[64]; /* the driver that compiled them: "535.309.01 (CUDA 12.2)" */
	char target[JW_TARGET_TEXT];
	bool in_store; /* from the store; otherwise from the cache */
	size_t modules;
};

struct jw_carry_options {
	const struct jw_system *system;
	const uint64_t *keys, *key_bytes; /* the wanted entries' names, and the lengths of their keys */
	const struct jw_identity *identities; /* whose entries they must be */
	size_t count;
	const uint64_t *kept; /* entries that must not be evicted to make room */
	size_t kept_count;
	bool store; /* search the store too; not possible with `dry_run` */
	/* Also search this folder of packs that are trusted; `shown` is its name in
	 * messages. NULL for none. */
	const char *folder, *shown;
	bool dry_run; /* only report what would be carried over */
	/* With dry_run: set for each wanted entry that would be carried over; may be NULL. */
	bool *found;
	uint64_t most_bytes; /* the most bytes of these and the kept entries together; 0 for the cache's
							limit */
	struct jw_cancel cancel; /* if cancelled, the result has the entries carried over so far */
	void *context;
	/* Called with the number of the cache's entries that were examined, at least once if there are
	 * any. May be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
};

struct jw_carry_result {
	struct jw_carry_group *groups;
	size_t group_count;
	size_t carried; /* modules whose entries exist now; with dry_run, would exist */
	uint64_t bytes; /* size of the carried entries in the cache */
	size_t evicted; /* the oldest other entries, evicted to make room */
	double seconds;
	char note[512];        /* a line about a problem; "" if there was none */
	size_t evicted_in_use; /* those of the evicted entries that belong to the system's driver, and
							  are cold now */
};

/* Carries entries over. If the process is killed, each entry is whole. Does nothing if no name can
 * be predicted or no cache is in use. The caller frees the result with jw_result_free. */
int jw_carry(struct jw_error *err, const struct jw_carry_options *options,
			 struct jw_carry_result **ret_result);
