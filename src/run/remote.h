/* A place of objects, as a run sees it. Each cold module is first looked for; one that is not there
 * is claimed when a worker is idle, and only a claimed one is compiled. All this is a matter of
 * time alone: a place that gives no answer is given up, and everything is compiled here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/child.h"

enum remote_state {
	REMOTE_LOOKING,  /* asked for */
	REMOTE_MISSING,  /* not there */
	REMOTE_CLAIMING, /* asked for, with a claim */
	REMOTE_THEIRS,   /* another node has claimed it */
	REMOTE_OURS,     /* may be compiled */
	REMOTE_FETCHED,  /* taken from there */
	REMOTE_TO_PUT,   /* compiled here */
	REMOTE_PUTTING,
	REMOTE_DONE,
};

struct remote_module {
	enum remote_state state;
	unsigned renewals; /* other claims of the same module */
	uint64_t claim;    /* the one that was seen last */
	uint64_t until_ns; /* when it counts no more */
	uint64_t again_ns; /* when to ask again */
};

struct remote {
	struct child *child; /* NULL: there is no place, or it is not used any more */
	char *folder;
	struct remote_module *modules; /* of the plan; NULL: there is no place */
	size_t to_put;
	size_t asked, putting; /* requests that are not answered */
	bool greeted;          /* that process has begun */
	bool gone;
	uint64_t heard_ns;   /* the last sign of life */
	uint64_t stepped_ns; /* the last look, and */
	bool idle;           /* whether workers waited for answers then */
	uint64_t waited_ns;  /* in all */
};
