/* How hard a shared place is asked, and when it is left alone. A place costs the time in which
 * workers wait for it, not the time in which it is silent while they work: a silent one is left
 * alone, everything is compiled here meanwhile, and it is taken up again when it answers. Facts and
 * decisions alone, as in run/share_order.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A silent place costs waiting workers this long before it is left alone. */
enum { SHARE_SILENCE_MS = 2000 };

struct share_pace {
	unsigned room;       /* requests that may be under way at the same time */
	unsigned ahead;      /* of them, looks at what no worker waits for */
	unsigned failures;   /* one after the other */
	bool answered;       /* ever */
	bool resting;        /* it is left alone */
	uint64_t probe_ns;   /* when to ask again then */
	uint64_t silence_ms; /* of waiting workers, since the last answer */
};

void share_pace_begin(struct share_pace *pace);
/* An answer to a request that took so long. `small`: how long says something about the place. */
void share_pace_answered(struct share_pace *pace, uint64_t took_ns, bool small);
/* What a look found: where there is something, there may be more. */
void share_pace_found(struct share_pace *pace, bool here);
/* Workers have waited for so long, and nothing was heard. A place that has never answered may be as
 * busy as one that has: its first answer may come, too. */
void share_pace_silent(struct share_pace *pace, uint64_t now_ns, uint64_t ms);
/* A request failed in a way that may pass. `spoke`: by an answer, which may ask for so many seconds
 * (-1: does not). True: the place is given up, since it never answered. */
bool share_pace_failed(struct share_pace *pace, uint64_t now_ns, bool spoke, int64_t wait_s);
/* How many further looks may begin, with so many requests under way, and so many of them looks. */
unsigned share_pace_looks(const struct share_pace *pace, unsigned asked, unsigned looks);
