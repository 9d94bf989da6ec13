/* A place of objects, as a run sees it. A cold module is claimed when a worker is idle, and
 * compiled once it is ours; where something is found, others are looked for meanwhile. All this is
 * a matter of time alone: a place that gives no answer is left alone (run/share_pace.h), and
 * everything is compiled here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/share_pace.h"
#include "worker/child.h"
#include "worker/protocol.h"

enum remote_state {
	REMOTE_MISSING, /* not there, as far as we know */
	REMOTE_THEIRS,  /* another node has claimed it */
	REMOTE_OURS,    /* may be compiled */
	REMOTE_FETCHED, /* taken from there */
	REMOTE_TO_PUT,  /* compiled here */
	REMOTE_DONE,
};

struct remote_module {
	enum remote_state state;
	bool asked; /* one request is under way: */
	bool ahead; /* no worker waits for it */
	enum object_what what;
	uint64_t asked_ns;
	unsigned renewals; /* other claims of the same module */
	uint64_t claim;    /* the one that was seen last */
	uint64_t until_ns; /* when it counts no more */
	uint64_t again_ns; /* when to ask again */
};

struct run;

struct remote {
	void (*wake)(struct run *run); /* gives work to workers that were held back */
	struct child *child;           /* NULL: there is no place, or it is not used any more */
	char *folder;
	char place[256];               /* its name in messages */
	struct remote_module *modules; /* of the plan; NULL: there is no place */
	struct share_pace pace;
	size_t to_put;
	unsigned asked, ahead, putting; /* requests that are not answered; `ahead` of `asked` */
	bool greeted;                   /* that process has begun */
	bool gone;
	uint64_t stepped_ns; /* the last look at the clock */
	uint64_t unheard_ns; /* since that process said anything at all */
	uint64_t waited_ms;  /* by idle workers, in all */
	uint64_t rested_ns;  /* at the end, with nothing else to do */
	char why[512];       /* it was left alone */
};
