/* The injector of faults: one call of the C library after the other fails, in a program that
 * torture.so is preloaded into (preload.c), or in the test's own process (struck….c). */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>

enum torture_mode { TORTURE_OFF, TORTURE_COUNT, TORTURE_FAIL, TORTURE_INTERRUPT, TORTURE_KILL };
enum { TORTURE_MAX_PATH = 4096 };

struct torture {
	enum torture_mode mode;
	unsigned long wanted;  /* the number of the call that fails */
	const char *calls;     /* names of the table in calls.h, as “open,read”; NULL: all */
	const char *path_part; /* only calls whose path has this text in it; NULL: all */
	int error;             /* 0: the one that such a call has */
	bool is_own;           /* in the test's own process: its first thread alone counts, and only
							* what a kernel lets fail and libuv bears */
	/* Called for each call that is counted (TORTURE_COUNT), or for the one that is to fail; returns
	 * false to let it succeed. If preloaded, it also receives the former name of a counted rename:
	 * “from”. */
	bool (*strikes)(unsigned long number, const char *call, const char *path);
};

void torture_begin(const struct torture *torture);
void torture_end(void);

/* Memory and pipes do not fail meanwhile. */
extern _Thread_local bool torture_spares;
/* Whether this allocation fails. */
bool torture_strikes_memory(void);

#define REAL(name)                                                                                 \
	static __typeof__(name) *real;                                                                 \
	if (!real)                                                                                     \
	real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
