#include "bake/bake_file.h"

#include <uv.h>

#include "bake/baking.h"
#include "bake/link_place.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/platform.h"
#include "os/uv.h"

enum { MOST_CONTAINERS = 1 << 24 };

/* ---- which containers there are */

static int note_image(struct jw_error *err, void *context, const struct devcode_image *image)
{
	struct bake_places *places = context;

	places->archive = places->archive || image->member;
	places->ids_offset = image->module_ids_offset;
	places->ids_bytes = image->module_ids_bytes;
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];

		if (VEC_ROOM(err, places->items, places->capacity, places->count, MOST_CONTAINERS))
			return -1;
		places->items[places->count++] = (struct bake_place){
			.offset = container->offset,
			.size_bytes = container->size_bytes,
			.role = container->section < image->section_count
						? image->sections[container->section].role
						: DEVCODE_LOOSE,
			.linked = container->linked,
			.text = container->text,
			.may_move = container->section >= image->section_count ||
						image->sections[container->section].role == DEVCODE_REGISTERED,
		};
	}
	return 0;
}

static void note_bake_failure(void *context, const char *path, const char *member,
							  const struct jw_error *why)
{
	struct jw_bake_file *file = ((struct baking *)context)->file;

	(void)path;
	(void)member;
	if (!file->failed.code)
		file->failed = *why;
}

static int note_image_of(struct jw_error *err, void *context, const struct devcode_image *image)
{
	return note_image(err, &((struct baking *)context)->places, image);
}

/* ---- containers made by threads ahead of the one that writes them in order */

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

/* Without threads, where containers are not worth them, each is made when taken. -1: no memory */
static int bake_ahead_open(struct jw_error *err, struct baking *baking,
						   struct bake_ahead **ret_ahead)
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

/* *ret_hand has made the container, and stays until it is given back. -1: as bake_place_make. */
static int bake_ahead_take(struct jw_error *err, struct bake_ahead *ahead, size_t place,
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

static void bake_ahead_give(struct bake_ahead *ahead, size_t place)
{
	if (!ahead->hand_count)
		return;
	uv_mutex_lock(&ahead->mutex);
	hand_of(ahead, place)->state = HAND_FREE;
	ahead->bytes -= ahead->baking->places.items[place].size_bytes;
	uv_cond_broadcast(&ahead->changed);
	uv_mutex_unlock(&ahead->mutex);
}

static void bake_ahead_close(struct bake_ahead *ahead)
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

/* ---- one library */

/* Whether the runtime links for a GPU. */
static int judge_linked(struct jw_error *err, struct baking *baking)
{
	for (size_t i = 0; i < baking->places.count; i++) {
		const struct bake_place *place = &baking->places.items[i];
		bool is_there = false;

		if (place->linked && baking_open(err, baking, place, &is_there))
			return -1;
		for (size_t t = 0; is_there && t < baking->job->target_count; t++)
			baking->link[t] = baking->link[t] || link_place_is_unlinked(baking, t);
	}
	return 0;
}

/* The place at hand, of which `ahead` makes what can be made ahead. */
static int bake_in_turn(struct jw_error *err, struct baking *baking, struct bake_ahead *ahead,
						size_t at, size_t *linked)
{
	const struct bake_place *place = &baking->places.items[at];
	struct baking *hand;
	int failed;

	if (cancel_asked(&baking->job->cancel))
		return error_set(err, JW_ERR_INTERRUPTED, "interrupted");
	failed = bake_ahead_take(err, ahead, at, &hand);
	if (!failed)
		failed = place->linked ? bake_place_link(err, baking, place, (*linked)++)
							   : bake_place_put(err, baking, hand, place);
	bake_ahead_give(ahead, at);
	if (failed)
		return -1;
	os_map_forget(&baking->map, (size_t)place->offset, (size_t)place->size_bytes);
	return 0;
}

static int bake_each_place(struct jw_error *err, struct baking *baking)
{
	struct bake_ahead *ahead;
	size_t linked = 0;
	int failed = bake_ahead_open(err, baking, &ahead);

	if (failed)
		return -1;
	for (size_t i = 0; !failed && i < baking->places.count; i++)
		failed = bake_in_turn(err, baking, ahead, i, &linked);
	bake_ahead_close(ahead);
	return failed;
}

static int bake_places(struct jw_error *err, struct baking *baking)
{
	struct jw_bake_file *file = baking->file;
	char *output;

	if (judge_linked(err, baking) || link_place_read(err, baking) || bake_each_place(err, baking))
		return -1;
	file->size_after_bytes = file->size_before_bytes;
	if (!baking->output.copy.file)
		return 0;
	if (baking->job->in_place && file->from.cuda)
		file->from = in_place_first_driver(baking->job->in_place, file->from);
	baking->output.copy.loads_from = file->from;
	output = mem_string(err, baking->job->output);
	if (!output || baked_output_finish(err, &baking->output, &file->size_after_bytes)) {
		mem_free(output);
		return -1;
	}
	file->output = output;
	return 0;
}

static int open_baked_output(struct jw_error *err, struct baking *baking)
{
	const struct bake_places *places = &baking->places;
	struct container_room *rooms = mem_array(err, places->count, sizeof *rooms);

	if (!rooms)
		return -1;
	for (size_t i = 0; i < places->count; i++)
		rooms[i] = (struct container_room){places->items[i].offset, places->items[i].size_bytes};
	return baked_output_open(err, baking->file->path, &baking->map, baking->job->output,
							 baking->job->in_place, rooms, places->count, &baking->output);
}

static int read_and_bake(struct jw_error *err, struct baking *baking)
{
	struct jw_bake_file *file = baking->file;
	const struct devcode_sink sink = {.context = baking,
									  .image = note_image_of,
									  .trouble = note_bake_failure,
									  .cancel = baking->job->cancel};

	if (devcode_read(err, file->path, &sink))
		return -1;
	if (file->failed.code || !baking->places.count)
		return 0;
	if (baking->places.archive)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "an archive: unpack it, and bake the libraries in it");
	if (os_map_open(err, file->path, &baking->map))
		return -1;
	file->size_before_bytes = baking->map.size;
	return open_baked_output(err, baking) || bake_places(err, baking) ? -1 : 0;
}

int bake_file(struct jw_error *err, const struct bake_file_job *job, struct jw_bake_file *file)
{
	struct baking *baking = baking_new(err, job, file);
	struct jw_error why = {0};

	if (!baking)
		return -1;
	if (read_and_bake(&why, baking)) {
		file->failed = why;
		file->baked = 0;
	}
	baking_free(baking);
	return why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED ? error_copy(err, &why) : 0;
}
