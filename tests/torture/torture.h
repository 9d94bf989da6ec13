/* The injector of faults makes one call of the C library after the other fail, in a program into
 * which torture.so is preloaded (preload.c), or in the test's own process (struck….c). */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>

enum torture_mode { TORTURE_OFF, TORTURE_COUNT, TORTURE_FAIL, TORTURE_KILL };
enum { TORTURE_MAX_PATH = 4096 };

struct torture {
	enum torture_mode mode;
	unsigned long wanted;  /* the number of the call that fails */
	const char *calls;     /* names of the table in calls.h, as “open,read”; NULL: all */
	const char *path_part; /* only calls whose path contains this text; NULL: all */
	int error;             /* 0: the error that such a call usually has */
	bool is_own; /* in the test's own process, only the first thread counts, and only failures that
					a kernel makes and libuv survives */
	/* Called for each call that is counted (TORTURE_COUNT), or for the call that should fail;
	 * returns false to let it succeed. If preloaded, it also receives the former name of a counted
	 * rename as “from”. */
	bool (*strikes)(unsigned long number, const char *call, const char *path);
};

void torture_begin(const struct torture *torture);
void torture_end(void);

/* While this is set, pipes do not fail. */
extern _Thread_local bool torture_spares;

#define REAL(name)                                                                                 \
	static __typeof__(name) *real;                                                                 \
	if (!real)                                                                                     \
	real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
