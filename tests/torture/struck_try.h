/* Functions that write, in which one call of the system fails, each in its turn.
 * Where one says that it has done its work, the files are those of a run in which nothing failed,
 * and no error is set; what could not be synced is not done. Where it says that it has not, it says
 * why. Either way it leaves no file open, and does its work the next time.
 *
 * $STRUCK_EVERY: each so many-th alone, but each that changes a file; $STRUCK: only this name. */
#pragma once

#include <stddef.h>

#include <jitwarm/system.h>

/* A scenario's function returns this, 0 or -1; this means that something is missing. */
enum { STRUCK_NOT_WHOLE = 1 };

struct struck_scenario {
	const char *name;
	void (*prepare)(void);
	int (*does)(struct jw_error *err);
	const char *compared; /* the part of the folder that is compared; "": all of it */
	enum {
		ALWAYS,
		AT_FIRST,  /* what is left over comes into a pack of its own */
		NEXT_TIME, /* a leftover that cannot be looked at or removed is removed then */
	} is_same;
};

/* Maps a path of the folder to its name there; the last one has none. */
struct struck_path {
	char **path;
	const char *name;
};
/* A group of scenarios. `now` becomes the folder in which they work, with JITWARM_STATE, HOME and
 * JITWARM_SYSTEM_ROOT in it; `paths` are the paths in it; `machine` has one GPU, a known driver and
 * the folder's “cache”. */
struct struck_group {
	char **now;
	const struct struck_path *paths;
	struct jw_system *machine;
	const struct struck_scenario *scenarios;
	size_t count, usual_every;
};
extern const struct struck_group struck_files, struck_bake;
