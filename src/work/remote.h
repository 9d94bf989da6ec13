/* A place of objects, as a run sees it. A cold module is claimed when a worker is idle, and
 * compiled once it is ours; where something is found, others are looked for meanwhile. What a place
 * costs is the time in which workers wait for it; its silence while they work costs nothing. A
 * place that does not answer is not asked for a while: everything is compiled here meanwhile, and
 * it is used again when it answers. */
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
	uint64_t asked_ns;
	unsigned renewals; /* other claims of the same module */
	uint64_t claim;    /* the one that was seen last */
	uint64_t until_ns; /* when it counts no more */
	uint64_t again_ns; /* when to ask again */
};

struct remote_pace {
	unsigned room;       /* looks and claims that may be under way at the same time */
	bool found;          /* by the last look: others are looked for ahead */
	bool answered;       /* ever */
	bool resting;        /* it is left alone */
	uint64_t probe_ns;   /* when to ask again then */
	uint64_t silence_ms; /* of waiting workers, since the last answer */
};

struct remote {
	struct child *child; /* NULL: there is no place, or it is not used any more */
	char *folder;
	char place[256];               /* its name in messages */
	struct remote_module *modules; /* of the plan; NULL: there is no place */
	struct remote_pace pace;
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

/* ---- decisions alone, without a place or a clock */

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
bool remote_may_look(const struct remote_module *known, uint64_t now_ns);
/* A look has not found it. */
void remote_see_nothing(struct remote_module *known, double cost_ms, uint64_t now_ns);
/* The other node's claim that counts no more; 0: none. */
uint64_t remote_dead_claim(const struct remote_module *known, uint64_t now_ns);
/* Another node has claimed it: that counts for REMOTE_CLAIM_TIMES the predicted compile, and
 * REMOTE_CLAIM_SPARE_S for starting a driver, from when it is first seen, so that no two clocks are
 * compared. A node that claims the same module again and again cannot keep it from us forever. */
enum { REMOTE_CLAIM_TIMES = 3, REMOTE_CLAIM_SPARE_S = 5 };
void remote_see_claim(struct remote_module *known, double cost_ms, uint64_t now_ns, uint64_t claim);

/* A silent place costs waiting workers this long before it is left alone. */
enum { REMOTE_SILENCE_MS = 2000 };
/* An answer to a request that took so long. `small`: how long says something about the place. */
void remote_pace_answered(struct remote_pace *pace, uint64_t took_ns, bool small);
/* Workers have waited for so long, and nothing was heard. A place that has never answered may be as
 * busy as one that has: its first answer may come, too. */
void remote_pace_silent(struct remote_pace *pace, uint64_t now_ns, uint64_t ms);
/* A request failed in a way that may pass. `spoke`: by an answer, which may ask for so many seconds
 * (-1: does not). True: the place is given up, since it never answered. */
bool remote_pace_failed(struct remote_pace *pace, uint64_t now_ns, bool spoke, int64_t wait_s);
