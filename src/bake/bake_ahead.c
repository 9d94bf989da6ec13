#include "bake/bake_ahead.h"

#include <uv.h>

#include "bake/bake_place.h"
#include "base/mem.h"
#include "os/cores.h"
#include "os/thread.h"

/* What is made ahead takes several times the memory of its containers, which have at most
 * AHEAD_BYTES, or are one alone. Fewer bytes than THREAD_BYTES are not worth a thread. */
enum { MOST_THREADS = 3, MOST_HANDS = 8, AHEAD_BYTES = 2 << 20, THREAD_BYTES = 1 << 20 };

enum hand_state { HAND_FREE, HAND_MAKES, HAND_MADE };

struct hand {
	struct baking *baking;
	struct jw_bake_file counts;
	enum hand_state state;
	struct jw_error why; /* it failed */
};

struct bake_ahead {
	struct baking *baking; /* of the thread that writes */
	uv_mutex_t mutex;
	uv_cond_t changed;
	uv_thread_t threads[MOST_THREADS];
	size_t thread_count;
	struct hand hands[MOST_HANDS]; /* by place, in turn */
	size_t hand_count;
	size_t next;    /* the first place that nobody has begun */
	uint64_t bytes; /* of the containers in hands */
	bool stop;
};

static struct hand *hand_of(struct bake_ahead *ahead, size_t place)
{
	return &ahead->hands[place % ahead->hand_count];
}

/* Makes the next container; false: there is none, or no room for it yet. Under the mutex. */
static bool make_next(struct bake_ahead *ahead)
{
	const struct bake_places *places = &ahead->baking->places;
	const struct bake_place *place = &places->items[ahead->next];
	struct hand *hand;

	if (ahead->next == places->count)
		return false;
	hand = hand_of(ahead, ahead->next);
	if (hand->state != HAND_FREE ||
		(ahead->bytes && ahead->bytes + place->size_bytes > AHEAD_BYTES))
		return false;
	hand->state = HAND_MAKES;
	ahead->next++;
	ahead->bytes += place->size_bytes;
	uv_mutex_unlock(&ahead->mutex);
	(void)bake_place_make(&hand->why, hand->baking, place);
	uv_mutex_lock(&ahead->mutex);
	hand->state = HAND_MADE;
	uv_cond_broadcast(&ahead->changed);
	return true;
}

static void make_ahead(void *context)
{
	struct bake_ahead *ahead = context;

	uv_mutex_lock(&ahead->mutex);
	while (!ahead->stop)
		if (!make_next(ahead))
			uv_cond_wait(&ahead->changed, &ahead->mutex);
	uv_mutex_unlock(&ahead->mutex);
}

/* How many threads there are beside the one that writes. */
static size_t count_ahead_threads(const struct baking *baking)
{
	const size_t cores = os_cores();
	uint64_t bytes = 0;

	for (size_t i = 0; i < baking->places.count; i++)
		bytes += baking->places.items[i].size_bytes;
	if (!baking->job->output || bytes < THREAD_BYTES)
		return 0;
	return cores - 1 < MOST_THREADS ? cores - 1 : MOST_THREADS;
}

static int open_hands(struct jw_error *err, struct bake_ahead *ahead, size_t count)
{
	for (; ahead->hand_count < count; ahead->hand_count++) {
		struct hand *hand = &ahead->hands[ahead->hand_count];

		hand->baking = baking_twin(err, ahead->baking, &hand->counts);
		if (!hand->baking)
			return -1;
	}
	return 0;
}

static void free_hands(struct bake_ahead *ahead)
{
	for (size_t i = 0; i < ahead->hand_count; i++)
		baking_free(ahead->hands[i].baking);
	mem_free(ahead);
}

int bake_ahead_open(struct jw_error *err, struct baking *baking, struct bake_ahead **ret_ahead)
{
	const size_t threads = count_ahead_threads(baking);
	struct bake_ahead *ahead = mem_alloc(err, sizeof *ahead);

	if (!ahead)
		return -1;
	ahead->baking = baking;
	if (open_hands(err, ahead, threads ? 2 * (threads + 1) : 0) ||
		(threads && uv_mutex_init(&ahead->mutex))) {
		free_hands(ahead);
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	}
	if (threads && uv_cond_init(&ahead->changed)) {
		uv_mutex_destroy(&ahead->mutex);
		free_hands(ahead);
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	}
	while (ahead->thread_count < threads &&
		   !os_thread_start(&ahead->threads[ahead->thread_count], make_ahead, ahead))
		ahead->thread_count++;
	*ret_ahead = ahead;
	return 0;
}

int bake_ahead_take(struct jw_error *err, struct bake_ahead *ahead, size_t place,
					struct baking **ret_hand)
{
	struct jw_bake_file *file = ahead->baking->file;
	struct hand *hand;

	*ret_hand = ahead->baking;
	if (!ahead->hand_count)
		return bake_place_make(err, ahead->baking, &ahead->baking->places.items[place]);
	hand = hand_of(ahead, place);
	uv_mutex_lock(&ahead->mutex);
	while (hand->state != HAND_MADE)
		if (!make_next(ahead))
			uv_cond_wait(&ahead->changed, &ahead->mutex);
	uv_mutex_unlock(&ahead->mutex);
	file->modules += hand->counts.modules;
	file->uncompiled += hand->counts.uncompiled;
	file->unknown += hand->counts.unknown;
	file->texts += hand->counts.texts;
	hand->counts = (struct jw_bake_file){0};
	*ret_hand = hand->baking;
	return hand->why.code ? error_copy(err, &hand->why) : 0;
}

void bake_ahead_give(struct bake_ahead *ahead, size_t place)
{
	if (!ahead->hand_count)
		return;
	uv_mutex_lock(&ahead->mutex);
	hand_of(ahead, place)->state = HAND_FREE;
	ahead->bytes -= ahead->baking->places.items[place].size_bytes;
	uv_cond_broadcast(&ahead->changed);
	uv_mutex_unlock(&ahead->mutex);
}

void bake_ahead_close(struct bake_ahead *ahead)
{
	if (!ahead->hand_count) {
		mem_free(ahead);
		return;
	}
	uv_mutex_lock(&ahead->mutex);
	ahead->stop = true;
	uv_cond_broadcast(&ahead->changed);
	uv_mutex_unlock(&ahead->mutex);
	for (size_t i = 0; i < ahead->thread_count; i++)
		(void)uv_thread_join(&ahead->threads[i]);
	uv_cond_destroy(&ahead->changed);
	uv_mutex_destroy(&ahead->mutex);
	free_hands(ahead);
}
