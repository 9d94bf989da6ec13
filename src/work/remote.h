/* A shared folder from a run's point of view. A cold module is claimed when a worker is idle, and
 * compiled after the claim; as long as searches find something, further modules are searched for
 * ahead. The cost of the folder is the time for which workers wait for it; its silence while they
 * work costs nothing. If it costs too much, the rest of the run does without it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/child.h"
#include "driver/protocol.h"

enum remote_state {
	REMOTE_MISSING, /* not in the folder, as far as we know */
	REMOTE_THEIRS,  /* another node has claimed it */
	REMOTE_OURS,    /* claimed by us, so it may be compiled */
	REMOTE_FETCHED, /* taken from the folder */
	REMOTE_TO_PUT,  /* compiled here, to be put into the folder */
	REMOTE_DONE,
};

struct remote_module {
	enum remote_state state;
	bool asked; /* one request is pending: */
	bool ahead; /* no worker waits for the answer */
	enum object_what what;
	uint64_t claim;    /* the last other claim */
	uint64_t last_ns;  /* when no other claim counts any longer; 0 before the first one */
	uint64_t until_ns; /* when that claim no longer counts */
	uint64_t again_ns; /* when to ask again */
};

struct remote {
	struct child *child;           /* NULL if no folder is given, or it is no longer used */
	char *folder;                  /* the run's folder for that child's files */
	struct remote_module *modules; /* one for each module of the plan; NULL if no folder is given */
	size_t to_put;
	/* Pending requests; `ahead` of `asked` are those that no worker waits for. */
	unsigned asked, ahead, putting;
	bool found; /* the last search found something, so others are searched for ahead */
	bool gone;
	uint64_t stepped_ns; /* when the clock was last read */
	uint64_t waited_ns;  /* the time that idle workers waited, in all */
	uint64_t silent_ns;  /* the time since the last answer */
};

/* ---- only decisions, without a folder or a clock */

struct remote_turn {
	size_t module;
	uint64_t key;
	double cost_ms; /* the predicted time */
	unsigned dear;  /* rises by one with each doubling of the cost */
	uint64_t turn;
};
/* Orders modules: expensive ones first, those of similar cost in an order of this node's own, so
 * that nodes that begin together begin with different modules. Sets `dear` and `turn`. */
void remote_order(uint64_t node, struct remote_turn *turns, size_t count);

/* Returns whether to claim this module now; asked when a worker is idle. */
bool remote_may_claim(const struct remote_module *known, uint64_t now_ns);
/* Returns whether to search for this module now; asked when there is nothing to claim, or other
 * modules were found. */
bool remote_may_ask(const struct remote_module *known, uint64_t now_ns);
/* Records that a search has not found the module. */
void remote_see_nothing(struct remote_module *known, double cost_ms, uint64_t now_ns);
/* Returns the other node's claim if it no longer counts; 0 if there is none. */
uint64_t remote_dead_claim(const struct remote_module *known, uint64_t now_ns);
/* Records that another node has claimed the module. The claim counts for REMOTE_CLAIM_TIMES the
 * predicted compile, and REMOTE_CLAIM_SPARE_S for starting a driver, from when it is first seen, so
 * that no two clocks are compared. All claims of a module together count for twice that time: for
 * a node that was killed, and the next one. */
enum { REMOTE_CLAIM_TIMES = 3, REMOTE_CLAIM_SPARE_S = 5 };
void remote_see_claim(struct remote_module *known, double cost_ms, uint64_t now_ns, uint64_t claim);

/* The time for which idle workers wait for an answer. */
enum { REMOTE_SILENCE_S = 10 };
/* Returns why the rest of the run should do without the folder; NULL if it is still used. `saved_s`
 * and `work_s` are the predicted times that it has saved and that the whole run takes. */
const char *remote_should_stop(const struct remote *remote, double saved_s, double work_s);
