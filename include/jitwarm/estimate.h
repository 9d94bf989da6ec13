/* The predicted time of work. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Compile times on a machine, relative to the model (docs/internals/estimates.md). */
struct jw_speed {
	double factor; /* 0 if unknown: a usual factor is used */
	bool measured; /* measured by runs of this compiler on this machine */
};

/* A predicted time in seconds: nine times in ten it lies between low and high. */
struct jw_seconds {
	double low, likely, high;
};

/* When a program compiles modules that are not in the cache. */
enum jw_loading {
	JW_LOADING_NONE,      /* there are no modules */
	JW_LOADING_EAGER = 1, /* all of them when it starts */
	JW_LOADING_LAZY = 2,  /* those that it uses, when it first uses them */
	/* some at the start, others at their first use */
	JW_LOADING_MIXED = JW_LOADING_EAGER | JW_LOADING_LAZY,
};
/* Returns "eager", "lazy", "mixed", as in JSON; "" without modules. */
const char *jw_loading_name(enum jw_loading loading);

/* The cost of compiling modules, each counted once. */
struct jw_forecast {
	enum jw_loading loading;
	/* The first start of the programs, whose driver compiles one module after the other, on one
	 * core; `low` leaves out modules that a start may not need. */
	struct jw_seconds start;
	double restored_seconds; /* the part of `start` that `prime` takes from earlier results */
	double longest_seconds; /* the most expensive module: more workers cannot be faster than this */
	struct jw_seconds prime; /* the wall time of jw_prime with `workers` */
	unsigned workers;
	uint64_t cache_bytes; /* the growth of the driver's cache */
	/* Run-time linking of the libraries that need it, whether their modules are warm or cold: every
	 * start repeats it, on one core. Not part of `start`. */
	struct jw_seconds link;
	bool measured; /* the compiler's speed on this machine was measured; otherwise the times are for
					  a usual machine */
};

/* Returns whether a start may need none, or few, of the modules in its time. */
bool jw_may_need_none(const struct jw_seconds *start);

/* Returns the throughput of this many workers on this machine, where one worker alone has 1. Two
 * hardware threads that share a core do little more than one, and more workers than threads do no
 * more than the threads (docs/internals/estimates.md). 0 counts as 1. */
double jw_workers_capacity(unsigned workers);

/* Returns the wall time of work that takes one worker `total`, and whose longest piece takes
 * `longest`, for workers of this capacity (0 counts as 1). All times have the same unit. */
double jw_makespan(double total, double longest, double capacity);
