/* Functions that write, in which each system call fails in its turn. If a function reports that its
 * work is done, the files are those of an undisturbed run, and no error is set; if something could
 * not be synced, the work is not done. If it reports a failure, it gives a reason. Either way it
 * leaves no file open, and does its work the next time.
 *
 * $STRUCK_EVERY: only each so many-th call, but each call that changes a file; $STRUCK: only the
 * scenario of this name. */
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
extern const struct struck_group struck_files;
