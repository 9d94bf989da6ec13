/* The one answer to “would a first start compile anything, and can a warm cache help here?”, which
 * jw_check, jw_prime and jw_doctor all give.
 *
 * Threads: any. */
#ifndef JITWARM_VERDICT_H
#define JITWARM_VERDICT_H

#include <stddef.h>

#include <jitwarm/error.h>

/* If several hold, the first of them. docs/commands.md has the same list with the statuses. */
enum jw_verdict {
	JW_VERDICT_UNREAD,  /* nothing of what was named could be read */
	JW_VERDICT_NOTHING, /* nothing was judged: no file that may hold device code was found */
	JW_VERDICT_USELESS, /* a start compiles, and its settings keep the driver from a warm cache
						   (jw_cache_info.why_useless) */
	JW_VERDICT_UNKNOWN, /* it cannot be told: the names of this driver's entries are not known */
	JW_VERDICT_NO_ROOM, /* a start compiles more than the driver's limit keeps */
	JW_VERDICT_COLD,    /* a start compiles, or the driver discards what is there
						   (jw_cache_outlook.harmful) */
	JW_VERDICT_PARTLY,  /* nothing is compiled, as far as the files could be read */
	JW_VERDICT_FAILS,   /* a program fails: its code does not run on a GPU, whatever is cached */
	JW_VERDICT_UNSURE,  /* it cannot be told of a part: Tile IR, or entries of a kind that jitwarm
						   does not know */
	JW_VERDICT_WARM,    /* what a start would compile is in the cache */
	JW_VERDICT_RUNS,    /* a start compiles nothing, with or without cache */
};
/* "cold", "warm", "useless" …, as in JSON. */
const char *jw_verdict_name(enum jw_verdict verdict);

/* The fate of files on a GPU under a driver, without a look at any cache: the first that holds.
 */
enum jw_runs {
	JW_RUNS_FAILS,    /* a program fails: the start, or most of the code */
	JW_RUNS_UNSURE,   /* Tile IR, or entries of a kind that jitwarm does not know */
	JW_RUNS_COMPILED, /* after the driver has compiled modules */
	JW_RUNS_AS_IS,
	JW_RUNS_ON_CPU, /* there is no device code */
};
/* "fails", "unsure", "compiles", "runs", "no-code", as in JSON. */
const char *jw_runs_name(enum jw_runs runs);

/* Code for a GPU that is no module of a plan. */
struct jw_unplanned {
	size_t cannot; /* containers with code for the GPU that its driver cannot use */
	/* Pieces of code that the CUDA runtime registers: without code for the GPU, of files that do
	 * not fail; of Tile IR; of a kind that jitwarm does not know. Of the latter two it cannot be
	 * told whether they are in the cache. */
	size_t lacking, tile, unknown;
};

#endif
