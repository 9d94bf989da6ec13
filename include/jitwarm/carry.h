/* After a change of drivers: what the live cache and the store hold under a former driver's stamp
 * is put under the present one's, which takes seconds where compiling takes minutes.
 *
 * Another build of the same CUDA minor version compiles to the same bytes, so its entries go over
 * by themselves. What an older compiler has made goes over where it is asked for, and is marked, so
 * that it can be compiled again later (jw_prime_options.recompile_carried).
 *
 * Threads: any number of threads may call these functions at the same time. Of one cache, one call
 * of jw_carry at a time in a process. */
#ifndef JITWARM_CARRY_H
#define JITWARM_CARRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>

JW_BEGIN_DECLS

/* Modules with something in common. */
struct jw_carry_group {
	char driver[64]; /* what has compiled them: "535.309.01 (CUDA 12.2)", "built …" */
	char target[JW_TARGET_TEXT];
	bool refused;  /* these have to be compiled: `why` */
	bool older;    /* of those that go over: an older compiler's */
	bool in_store; /* they came from the store, the others from the cache itself */
	size_t modules;
	char why[512]; /* refused: each mismatching field by name */
};

struct jw_carry_options {
	size_t size; /* JW_CARRY_OPTIONS_INIT sets it (jitwarm/api.h) */
	const struct jw_system *system;
	const uint64_t *keys,
		*key_bytes; /* the entries that are wanted, and the lengths of their keys */
	size_t count;
	const uint64_t *kept; /* entries that are not to make room for them */
	size_t kept_count;
	bool carry_over;     /* what older compilers have made, too */
	bool store;          /* look into the store too; not with `dry_run` */
	bool dry_run;        /* only say what would go over */
	uint64_t most_bytes; /* that these and the kept ones may take together; 0: the cache's limit */
	struct jw_cancel cancel; /* what was carried by then is the result */
	void *context;
	/* So many of so many of the cache's entries, at least once where there are any. May be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
};
#define JW_CARRY_OPTIONS_INIT JW_INIT(jw_carry_options)

struct jw_carry_result {
	struct jw_carry_group *groups;
	size_t group_count;
	size_t carried; /* modules whose entries are there now, or would be */
	size_t older;   /* of these, an older compiler's */
	size_t refused; /* modules that some driver has compiled, and that cannot go over */
	uint64_t bytes; /* what the carried ones take in the cache */
	size_t evicted; /* oldest entries of others that had to make room */
	double seconds;
	char note[512]; /* a line on what did not go as it should, "" where nothing is to be said */
};

/* Killed at any moment, each entry is whole and what an older compiler has made is marked. Where no
 * name can be predicted or no cache is in use there is nothing to do. -1: out of memory. The caller
 * frees with jw_carry_result_free. */
int jw_carry(struct jw_error *err, const struct jw_carry_options *options,
			 struct jw_carry_result **ret_result);
void jw_carry_result_free(struct jw_carry_result *result);

/* How many entries of the system's cache are marked as carried over from older drivers, by their
 * headers and what jitwarm remembers. */
size_t jw_carry_count(const struct jw_system *system);

JW_END_DECLS

#endif
