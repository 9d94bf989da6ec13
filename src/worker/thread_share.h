/* How many threads compile one module, so that no core idles beside a long one. Uses neither clock
 * nor system calls. */
#pragma once

enum {
	/* Shorter ones do not matter. */
	THREAD_SHARE_LEAST_MS = 1000,
	/* Part of the compiler's work is sequential (docs/elsewhere.md). */
	THREAD_SHARE_MOST = 8,
};

/* A module of `cost_ms` that begins while others have `others_ms` of work left, in progress or
 * waiting: its share of the cores, 1 if the others keep them busy. */
unsigned thread_share(double cost_ms, double others_ms, unsigned cores);
