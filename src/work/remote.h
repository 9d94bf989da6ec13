/* A shared folder, as a run sees it. A cold module is claimed when a worker is idle, and compiled
 * once it is ours; while looks find something, others are looked for ahead. The folder costs the
 * time for which workers wait for it; its silence while they work costs nothing. If it costs too
 * much, the rest of the run does without it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/child.h"
#include "driver/protocol.h"

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
	unsigned renewals; /* other claims of the same module */
	uint64_t claim;    /* the one that was seen last */
	uint64_t until_ns; /* when it counts no more */
	uint64_t again_ns; /* when to ask again */
};

struct remote {
	struct child *child;           /* NULL: no folder is given, or it is not used any more */
	char *folder;                  /* of this run, for that child's files */
	struct remote_module *modules; /* of the plan; NULL: no folder is given */
	size_t to_put;
	unsigned asked, ahead, putting; /* requests that are not answered; `ahead` of `asked` */
	bool found;                     /* by the last look: others are looked for ahead */
	bool gone;
	uint64_t stepped_ns; /* the last look at the clock */
	uint64_t waited_ns;  /* by idle workers, in all */
	uint64_t silent_ns;  /* and since the last answer */
};

/* ---- decisions alone, without a folder or a clock */

struct remote_turn {
	size_t module;
	uint64_t key;
	double cost_ms; /* predicted */
	unsigned dear;  /* twice as dear is one more */
	uint64_t turn;
};
/* Dear modules first, those of similar cost in an order of this node's own, so that nodes that
 * begin together begin with different ones. Sets `dear` and `turn`. */
void remote_order(uint64_t node, struct remote_turn *turns, size_t count);

/* Whether to claim this module now, where a worker is idle. */
bool remote_may_claim(const struct remote_module *known, uint64_t now_ns);
/* Whether to look for it now, where there is nothing to claim, or other modules were there. */
bool remote_may_ask(const struct remote_module *known, uint64_t now_ns);
/* A look has not found it. */
void remote_see_nothing(struct remote_module *known, double cost_ms, uint64_t now_ns);
/* The other node's claim that counts no more; 0: none. */
uint64_t remote_dead_claim(const struct remote_module *known, uint64_t now_ns);
/* Another node has claimed it: that counts for REMOTE_CLAIM_TIMES the predicted compile, and
 * REMOTE_CLAIM_SPARE_S for starting a driver, from when it is first seen, so that no two clocks are
 * compared. A node that claims the same module again and again cannot keep it from us forever. */
enum { REMOTE_CLAIM_TIMES = 3, REMOTE_CLAIM_SPARE_S = 5 };
void remote_see_claim(struct remote_module *known, double cost_ms, uint64_t now_ns, uint64_t claim);

/* Idle workers wait so long for an answer. */
enum { REMOTE_SILENCE_S = 10 };
/* Why the rest of the run does without the folder; NULL: it is used further. `saved_s` and `work_s`
 * are what it has saved and what the whole run takes, predicted. */
const char *remote_should_stop(const struct remote *remote, double saved_s, double work_s);
