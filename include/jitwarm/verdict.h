/* The one answer to “would a first start compile anything, and can a warm cache help here?”, which
 * jw_check, jw_prime and jw_doctor all return. */
#pragma once

#include <stddef.h>

#include <jitwarm/error.h>
#include <jitwarm/target.h>

/* The verdicts. If several apply, the first one counts. docs/commands.md has the same list with the
 * statuses. */
enum jw_verdict {
	JW_VERDICT_UNREAD,  /* none of the named files could be read */
	JW_VERDICT_NOTHING, /* nothing was judged: no file that may hold device code was found */
	JW_VERDICT_USELESS, /* a start compiles, and its settings keep the driver from a warm cache
						   (jw_cache_info.why_useless) */
	JW_VERDICT_UNKNOWN, /* unknown, because the names of this driver's entries are unknown */
	JW_VERDICT_NO_ROOM, /* a start compiles more than the driver's limit can hold */
	JW_VERDICT_COLD,    /* a start compiles, or the driver discards the present entries
						   (jw_cache_outlook.harmful) */
	JW_VERDICT_PARTLY,  /* nothing is compiled, as far as the files could be read */
	JW_VERDICT_FAILS,   /* a program fails: its code does not run on a GPU, whatever is cached */
	JW_VERDICT_UNSURE,  /* unknown for a part: Tile IR, or entries of a kind that jitwarm does not
						   know */
	JW_VERDICT_WARM,    /* the modules that a start would compile are in the cache */
	JW_VERDICT_RUNS,    /* a start compiles nothing, with or without cache */
};
/* Returns "cold", "warm", "useless" …, as in JSON. */
const char *jw_verdict_name(enum jw_verdict verdict);

/* The fate of files on a GPU under a driver, without regard to any cache: the first value that
 * applies. */
enum jw_runs {
	JW_RUNS_FAILS,    /* a program fails: at the start, or with most of the code */
	JW_RUNS_UNSURE,   /* Tile IR, or entries of a kind that jitwarm does not know */
	JW_RUNS_COMPILED, /* they run after the driver has compiled modules */
	JW_RUNS_AS_IS,
	JW_RUNS_ON_CPU, /* there is no device code */
};
/* Returns "fails", "unsure", "compiles", "runs" or "no-code", as in JSON. */
const char *jw_runs_name(enum jw_runs runs);

#define JW_REASON 1024

/* The answer whether files run on a GPU, or on several together. */
struct jw_fate {
	enum jw_runs verdict;
	size_t failing; /* files with which a program fails */
	size_t refused; /* those of them of which the driver has refused modules */
	size_t lacking; /* other files of which a part fails, or that are optional and fail */
	/* The first failing file, and the first one of which a part fails: "FILE: why"; "" if there is
	 * none */
	char reason[JW_REASON], part[JW_REASON];
	struct jw_driver needs; /* the first driver with which no program fails; zeros if the driver's
							   age is not the reason */
};

/* Code for a GPU that is not a module of a plan. */
struct jw_unplanned {
	size_t cannot; /* containers with code for the GPU that its driver cannot use */
	/* Pieces of code that the CUDA runtime registers: those without code for the GPU in files that
	 * do not fail; those of Tile IR; those of a kind that jitwarm does not know. Whether the latter
	 * two are in the cache cannot be found out. */
	size_t lacking, tile, unknown;
};
