#include "run/share_pace.h"

/* As in TCP, the number of requests under way grows with each quick answer and shrinks with a slow
 * one, so that a thousand nodes that begin together do not make a place silent. The worker of
 * objects has sixteen threads. */
enum { FIRST_ROOM = 1, MOST_ROOM = 16, FIRST_AHEAD = 2, FOUND_AHEAD = 4 };
enum { QUICK_MS = 250, SLOW_MS = 1000 };
/* Between requests to a place that is left alone. */
enum { PROBE_MS = 500, MOST_DOUBLINGS = 6, MOST_PROBE_WAIT_S = 30 };

static const uint64_t PACE_MS = 1000000;

void share_pace_begin(struct share_pace *pace)
{
	*pace = (struct share_pace){.room = FIRST_ROOM, .ahead = FIRST_AHEAD};
}

void share_pace_answered(struct share_pace *pace, uint64_t took_ns, bool small)
{
	if (took_ns <= QUICK_MS * PACE_MS && pace->room < MOST_ROOM)
		pace->room++;
	else if (took_ns > SLOW_MS * PACE_MS && small && pace->room > 1)
		pace->room /= 2;
	pace->answered = true;
	pace->resting = false;
	pace->failures = 0;
	pace->silence_ms = 0;
}

void share_pace_found(struct share_pace *pace, bool here)
{
	const unsigned more = pace->ahead < FOUND_AHEAD ? FOUND_AHEAD : 2 * pace->ahead;

	pace->ahead = !here ? pace->ahead / 2 : more < MOST_ROOM ? more : MOST_ROOM;
}

static void leave_alone(struct share_pace *pace, uint64_t now_ns, uint64_t ms)
{
	pace->resting = true;
	pace->room = 1;
	pace->probe_ns = now_ns + ms * PACE_MS;
}

void share_pace_silent(struct share_pace *pace, uint64_t now_ns, uint64_t ms)
{
	pace->silence_ms += ms;
	if (pace->silence_ms >= SHARE_SILENCE_MS && !pace->resting)
		leave_alone(pace, now_ns, PROBE_MS);
}

bool share_pace_failed(struct share_pace *pace, uint64_t now_ns, bool spoke, int64_t wait_s)
{
	const unsigned doublings = pace->failures < MOST_DOUBLINGS ? pace->failures : MOST_DOUBLINGS;
	uint64_t ms = (uint64_t)PROBE_MS << doublings;

	pace->answered = pace->answered || spoke;
	/* Several fail together: one failure. */
	if (pace->resting && now_ns < pace->probe_ns)
		return false;
	if (wait_s > 0 && (uint64_t)wait_s * 1000 > ms)
		ms = (uint64_t)(wait_s < MOST_PROBE_WAIT_S ? wait_s : MOST_PROBE_WAIT_S) * 1000;
	pace->failures++;
	leave_alone(pace, now_ns, ms);
	return !pace->answered;
}

unsigned share_pace_looks(const struct share_pace *pace, unsigned asked, unsigned looks)
{
	const unsigned room = pace->room > asked ? pace->room - asked : 0;
	const unsigned ahead = pace->ahead > looks ? pace->ahead - looks : 0;

	return pace->resting ? 0 : room < ahead ? room : ahead;
}
