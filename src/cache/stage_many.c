#include <uv.h>

#include "cache/live.h"

enum { MOST_STAGED_BYTES = 256 << 20 /* that wait beside the tree at a time */ };

/* Entries in parts, of which there are several at a time, are written by two threads: each takes
 * the next one that the other has not. */
struct staging {
	struct cache_live *live;
	struct cache_addition *additions;
	struct live_staged *staged; /* of each addition */
	size_t count;
	uv_mutex_t mutex;
	size_t next;
	struct jw_error why; /* the first failure */
	int result;
};

/* False where nothing is left to do. */
static bool take_next(struct staging *staging, size_t *ret_at)
{
	bool taken;

	uv_mutex_lock(&staging->mutex);
	taken = !staging->result && staging->next < staging->count;
	*ret_at = staging->next;
	staging->next += taken;
	uv_mutex_unlock(&staging->mutex);
	return taken;
}

static void stage_in_turn(void *argument)
{
	struct staging *staging = argument;
	size_t at;

	while (take_next(staging, &at)) {
		struct jw_error why = {0};

		if (!live_stage(&why, staging->live, &staging->additions[at], at, &staging->staged[at]))
			continue;
		uv_mutex_lock(&staging->mutex);
		if (!staging->result)
			staging->why = why;
		staging->result = -1;
		uv_mutex_unlock(&staging->mutex);
	}
}

/* Those that are staged, in their order, without gaps. */
static size_t close_gaps(struct live_staged *staged, size_t count)
{
	size_t filled = 0;

	for (size_t i = 0; i < count; i++)
		if (staged[i].target)
			staged[filled++] = staged[i];
	for (size_t i = filled; i < count; i++)
		staged[i] = (struct live_staged){0};
	return filled;
}

static int stage_together(struct jw_error *err, struct cache_live *live,
						  struct cache_addition *additions, size_t count,
						  struct live_staged staged[LIVE_MOST_STAGED], size_t *ret_staged)
{
	struct staging staging = {
		.live = live, .additions = additions, .staged = staged, .count = count};
	uv_thread_t thread;
	bool alone;

	/* What both need is made before. */
	*ret_staged = 0;
	if (live_make_staging(err, live))
		return -1;
	if (uv_mutex_init(&staging.mutex))
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	alone = uv_thread_create(&thread, stage_in_turn, &staging) != 0;
	stage_in_turn(&staging);
	if (!alone)
		(void)uv_thread_join(&thread);
	uv_mutex_destroy(&staging.mutex);
	*ret_staged = close_gaps(staged, count);
	return staging.result ? error_copy(err, &staging.why) : 0;
}

/* The rights of another account are a thread's own. */
static size_t count_together(const struct cache_live *live, const struct cache_addition *additions,
							 size_t count)
{
	size_t together = 0;

	while (!live->as_owner && together < count && together < LIVE_MOST_STAGED &&
		   additions[together].parts)
		together++;
	return together;
}

int live_stage_some(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
					size_t count, struct live_staged staged[LIVE_MOST_STAGED], size_t *ret_staged,
					size_t *ret_used)
{
	uint64_t bytes = 0;
	size_t filled = 0, used = 0, together = count_together(live, additions, count);

	if (together > 1) {
		*ret_used = together;
		return stage_together(err, live, additions, together, staged, ret_staged);
	}
	while (used < count && filled < LIVE_MOST_STAGED && bytes < MOST_STAGED_BYTES) {
		if (live_stage(err, live, &additions[used], filled, &staged[filled])) {
			*ret_staged = filled;
			*ret_used = used;
			return -1;
		}
		bytes += additions[used].row_bytes;
		filled += staged[filled].target != NULL;
		used++;
	}
	*ret_staged = filled;
	*ret_used = used;
	return 0;
}
