/* Two threads write several entries in parts, which come from a pack. */
#include <uv.h>

#include "cache/staging.h"
#include "os/thread.h"

/* Each thread takes the next one that is not taken. */
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

/* False if none is left. */
static bool take_next_addition(struct staging *staging, size_t *ret_at)
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

	while (take_next_addition(staging, &at)) {
		struct jw_error why = {0};

		if (!stage_memory(&why, staging->live, &staging->additions[at], at, &staging->staged[at]))
			continue;
		uv_mutex_lock(&staging->mutex);
		if (!staging->result)
			staging->why = why;
		staging->result = -1;
		uv_mutex_unlock(&staging->mutex);
	}
}

/* Moves the staged ones together, in order. */
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

int stage_parts(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
				size_t count, struct live_staged *staged, size_t *ret_staged)
{
	struct staging staging = {
		.live = live, .additions = additions, .staged = staged, .count = count};
	uv_thread_t thread;
	bool alone;

	*ret_staged = 0;
	if (uv_mutex_init(&staging.mutex))
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	alone = os_thread_start(&thread, stage_in_turn, &staging) != 0;
	stage_in_turn(&staging);
	if (!alone)
		(void)uv_thread_join(&thread);
	uv_mutex_destroy(&staging.mutex);
	*ret_staged = close_gaps(staged, count);
	return staging.result ? error_copy(err, &staging.why) : 0;
}
