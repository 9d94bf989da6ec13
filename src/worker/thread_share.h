/* Over how many threads one module is compiled, so that no core idles beside a long one. No clock
 * and no system calls in here. */
#pragma once

enum {
	/* Shorter ones are over before it matters. */
	THREAD_SHARE_LEAST_MS = 1000,
	/* The compiler's own work is in part one thing after the other (docs/elsewhere.md). */
	THREAD_SHARE_MOST = 8,
};

/* A module of `cost_ms` that begins while others have `others_ms` of work left, in their hands or
 * waiting: its share of the cores, 1 where they have enough to do without. */
unsigned thread_share(double cost_ms, double others_ms, unsigned cores);
