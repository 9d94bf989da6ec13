/* Functions that write, in which one allocation or one call of the system fails, each in its turn.
 * Where one says that it has done its work, the files are those of a run in which nothing failed,
 * and no error is set. Where it says that it has not, it says why. Either way it leaves no file
 * open, and does its work the next time.
 *
 * $STRUCK_EVERY: each so many-th alone, but each call that changes a file; $STRUCK: only what has
 * this name. */
#pragma once

#include <stddef.h>

#include <jitwarm/system.h>

/* What a scenario's function says beside 0 and -1: something is missing. */
enum { STRUCK_NOT_WHOLE = 1 };

struct struck_scenario {
	const char *name;
	void (*prepare)(void);
	int (*does)(struct jw_error *err);
	const char *compared; /* below the folder; "": all of it */
	enum {
		ALWAYS,
		WITH_MEMORY, /* a variable that memory lacks for may be taken for one that is not set */
		AT_FIRST,    /* what is left over comes into a pack of its own */
		NEXT_TIME,   /* a leftover that cannot be looked at or removed is removed then */
	} is_same;
};

/* The folder in which scenarios work; JITWARM_STATE, HOME and JITWARM_SYSTEM_ROOT are in it. */
char *struck_set_up(void);
int struck_tear_down(void);
/* A path in the folder, which the caller frees; it may be a variable's value, too. */
char *struck_inside(const char *name, const char *variable);
/* With one GPU, and a known driver. */
struct jw_system struck_machine(char *cache);
void struck_try(const struct struck_scenario *scenarios, size_t count, size_t usual_every);
