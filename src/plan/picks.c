#include "plan/picks.h"

#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "cache/key.h"
#include "os/platform.h"
#include "os/uv.h"

/* Collected payloads take at most this much memory, or as much as one larger payload alone. With
 * fewer bytes than this, a second thread is not worth the 50 us for its start and end. */
enum { GATHER_BYTES = 12 << 20, KEEP_BYTES = 1 << 18, MOST_THREADS = 4, THREAD_BYTES = 1 << 19 };

struct picks_slot {
	struct devcode_entry entry; /* its payload_offset counts in `stored` */
	struct devcode_view stored; /* the bytes to decompress: in `copy`, or in the container */
	struct buf copy;
	struct buf payload;
	struct devcode_view view; /* the payload, in `payload` or in `stored` */
	size_t pick;
	uint32_t targets;
	char load_tail[CACHE_KEY_MOST_TAIL], link_tail[CACHE_KEY_MOST_TAIL];
};

int picks_init(struct jw_error *err, struct picks *picks, const struct jw_target *targets,
			   size_t target_count, const struct cache_profile *profile)
{
	struct picks made = {.target_count = target_count};

	if (target_count > PICKS_MOST_TARGETS)
		return error_set(err, JW_ERR_USAGE, "more than %d GPU architectures at once",
						 PICKS_MOST_TARGETS);
	made.keyed = profile && profile->stamp[0] && target_count;
	for (size_t i = 0; i < target_count && made.keyed; i++)
		made.targets[i].start =
			cache_key_start(profile, targets[i].sm, &made.targets[i].start_bytes);
	made.slots = mem_array(PICKS_SLOTS, sizeof *made.slots);
	for (size_t i = 0; i < PICKS_SLOTS; i++)
		made.slots[i].copy = made.slots[i].payload = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	*picks = made;
	return 0;
}

void picks_free(struct picks *picks)
{
	for (size_t i = 0; picks->slots && i < PICKS_SLOTS; i++) {
		buf_free(&picks->slots[i].copy);
		buf_free(&picks->slots[i].payload);
	}
	mem_free(picks->slots);
	mem_free(picks->items);
	mem_free(picks->keys);
	*picks = (struct picks){0};
}

void picks_clear(struct picks *picks)
{
	picks->count = 0;
	picks->used_slots = 0;
	picks->used_bytes = 0;
}

static int add_room(struct jw_error *err, struct picks *picks)
{
	const size_t targets = picks->target_count ? picks->target_count : 1;
	struct pick_keys *keys;

	if (VEC_ROOM(err, picks->items, picks->capacity, picks->count, PICKS_MOST))
		return -1;
	if (picks->keys_capacity >= picks->capacity)
		return 0;
	if (picks->capacity > SIZE_MAX / (targets * sizeof *keys))
		mem_ended(0);
	keys = mem_resize(picks->keys, picks->capacity * targets * sizeof *keys);
	picks->keys = keys;
	picks->keys_capacity = picks->capacity;
	return 0;
}

/* Whether the option string requests a line table. */
static bool wants_line_info(const char *options, size_t length)
{
	static const char *const names[] = {"--generate-line-info", "-lineinfo", "--device-debug",
										"-g"};
	size_t end;

	for (size_t at = 0; at < length; at = end + 1) {
		for (end = at; end < length && options[end] != ' ';)
			end++;
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (end - at == strlen(names[i]) && !memcmp(options + at, names[i], end - at))
				return true;
	}
	return false;
}

/* Raw PTX that fills its eight bytes completely has no NUL, and the driver's key has none either
 * (measured on 535, 550 and 555). devcode has removed the last NUL of every other raw payload,
 * since the tail begins with it. */
static bool is_bare(const struct devcode_entry *entry)
{
	return entry->compression == DEVCODE_RAW && entry->payload_offset &&
		   entry->size_bytes == entry->stored_bytes;
}

struct cache_key_input picks_key_input(const struct devcode_container *container,
									   const struct devcode_entry *entry,
									   struct devcode_view payload, uint16_t sm,
									   enum cache_key_form form)
{
	const bool object = entry->kind == DEVCODE_KIND_RELOCATABLE_PTX;

	return (struct cache_key_input){
		.sm = sm,
		.form = form,
		.payload = payload.data,
		.payload_size =
			cache_key_payload(object ? CACHE_KEY_TEXT : form, payload.data, payload.size),
		.options = (const char *)container->bytes + entry->options_offset,
		.options_length = object ? 0 : entry->options_length,
		.bare = !object && is_bare(entry),
	};
}

static void drop_first(char *tail, uint32_t *bytes)
{
	memmove(tail, tail + 1, --*bytes);
}

/* Facts that are known before decompression. */
static void describe_options(struct pick *pick, struct picks_slot *slot,
							 const struct devcode_container *container,
							 const struct devcode_entry *entry)
{
	const char *options = (const char *)container->bytes + entry->options_offset;
	/* For kind 0x40 the key contains the text up to its NUL, and no options (measured on 555). */
	const bool object = entry->kind == DEVCODE_KIND_RELOCATABLE_PTX;
	const size_t options_length = object ? 0 : entry->options_length;
	enum cache_key_form form = pick->text ? CACHE_KEY_TEXT : CACHE_KEY_LOAD;

	pick->load_tail_bytes =
		(uint32_t)cache_key_tail(slot->load_tail, form, options, options_length);
	pick->link_tail_bytes =
		(uint32_t)cache_key_tail(slot->link_tail, CACHE_KEY_LINK, options, options_length);
	if (pick->load_tail_bytes && pick->link_tail_bytes && !object && is_bare(entry)) {
		drop_first(slot->load_tail, &pick->load_tail_bytes);
		drop_first(slot->link_tail, &pick->link_tail_bytes);
	}
	pick->features.line_info = wants_line_info(options, options_length);
}

/* The size before or after decompression: hostile headers may exaggerate either. */
static uint64_t bulk_of(const struct devcode_entry *entry)
{
	return entry->size_bytes > entry->stored_bytes ? entry->size_bytes : entry->stored_bytes;
}

/* Copies the container's bytes, which do not outlive the call, unless the collected ones are
 * processed at once. *ret_taken is false if there are no bytes. */
static int take_stored(struct jw_error *err, struct picks_slot *slot,
					   const struct devcode_container *container, const struct devcode_entry *entry,
					   bool *ret_taken)
{
	*ret_taken = !devcode_stored(NULL, container, entry, &slot->stored);
	if (!*ret_taken)
		return 0;
	slot->entry = *entry;
	slot->entry.payload_offset = 0;
	if (bulk_of(entry) >= GATHER_BYTES)
		return 0;
	buf_clear(&slot->copy);
	if (buf_append(err, &slot->copy, slot->stored.data, slot->stored.size))
		return -1;
	slot->stored.data = slot->copy.data;
	return 0;
}

int picks_add(struct jw_error *err, struct picks *picks, const struct devcode_container *container,
			  const struct devcode_entry *entry, uint32_t targets, size_t *ret_index)
{
	struct picks_slot *slot;
	struct pick *pick;
	bool taken;

	/* A large one is not held beside others. */
	if (picks->used_slots && bulk_of(entry) > GATHER_BYTES - picks->used_bytes &&
		picks_flush(err, picks))
		return -1;
	slot = &picks->slots[picks->used_slots];
	if (add_room(err, picks) || take_stored(err, slot, container, entry, &taken))
		return -1;
	pick = &picks->items[picks->count];
	*pick = (struct pick){.container_offset = container->offset,
						  .container_bytes = container->size_bytes,
						  .entry_offset = entry->offset,
						  .payload_bytes = entry->size_bytes,
						  .text = !entry->payload_offset};
	memset(picks->keys + picks->count * picks->target_count, 0,
		   picks->target_count * sizeof *picks->keys);
	if (taken) {
		describe_options(pick, slot, container, entry);
		slot->pick = picks->count;
		slot->targets = targets;
		picks->used_bytes += bulk_of(entry);
		picks->used_slots++;
	}
	*ret_index = picks->count++;
	if (picks->used_slots == PICKS_SLOTS || picks->used_bytes >= GATHER_BYTES)
		return picks_flush(err, picks);
	return 0;
}

/* Decompresses and counts one. It stays unreadable if it cannot be unpacked; -1: out of memory. */
static void unpack_payload(const struct picks *picks, struct picks_slot *slot)
{
	struct pick *pick = &picks->items[slot->pick];
	const struct devcode_container alone = {.bytes = slot->stored.data,
											.size_bytes = slot->stored.size};
	const bool object = slot->entry.kind == DEVCODE_KIND_RELOCATABLE_PTX;
	const bool line_info = pick->features.line_info;
	struct jw_error why = {0};

	if (devcode_payload(&why, &alone, &slot->entry, &slot->payload, &slot->view)) {
		slot->view = (struct devcode_view){0};
		return;
	}
	pick->payload_bytes = slot->view.size;
	pick->body_bytes = cache_key_payload(object || pick->text ? CACHE_KEY_TEXT : CACHE_KEY_LOAD,
										 slot->view.data, slot->view.size);
	pick->readable = pick->load_tail_bytes && pick->link_tail_bytes;
	pick->features = plan_features_of(slot->view.data, slot->view.size);
	pick->features.line_info = line_info;
}

static void finish_keys(const struct picks *picks, const struct picks_slot *slot, size_t target,
						uint64_t state)
{
	const struct pick *pick = &picks->items[slot->pick];
	struct pick_keys *keys = &picks->keys[slot->pick * picks->target_count + target];

	keys->load = fnv_update(state, slot->load_tail, pick->load_tail_bytes);
	keys->link = fnv_update(state, slot->link_tail, pick->link_tail_bytes);
}

/* A lane for each target's key, or one for the identity, and the number that distinguishes them. */
struct lane_use {
	uint16_t slot, target; /* target == PICKS_MOST_TARGETS: the identity */
};

static size_t set_lanes(const struct picks *picks, size_t slot_index, struct fnv_lane *lanes,
						struct lane_use *uses)
{
	const struct picks_slot *slot = &picks->slots[slot_index];
	const struct pick *pick = &picks->items[slot->pick];
	size_t count = 0;

	if (!slot->view.data)
		return 0;
	if (!picks->keyed) {
		lanes[count] = (struct fnv_lane){FNV_START, slot->view.data, slot->view.size};
		uses[count++] = (struct lane_use){(uint16_t)slot_index, PICKS_MOST_TARGETS};
	}
	for (size_t t = 0; t < picks->target_count; t++) {
		if (!picks->keyed || !(slot->targets >> t & 1))
			continue;
		lanes[count] =
			(struct fnv_lane){picks->targets[t].start, slot->view.data, (size_t)pick->body_bytes};
		uses[count++] = (struct lane_use){(uint16_t)slot_index, (uint16_t)t};
	}
	return count;
}

/* The longest payloads first, so that few lanes are idle at the end. */
static void order_slots(const struct picks *picks, size_t *order)
{
	for (size_t i = 0; i < picks->used_slots; i++) {
		const uint64_t size = picks->slots[i].entry.size_bytes;
		size_t at = i;

		for (; at && picks->slots[order[at - 1]].entry.size_bytes < size; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* The share of one thread: every `step`-th of `order` from `first` on. */
struct share {
	const struct picks *picks;
	const size_t *order;
	size_t first, step;
	struct jw_error why; /* out of memory */
};

static void hash_share(const struct share *share)
{
	struct fnv_lane lanes[PICKS_SLOTS * (PICKS_MOST_TARGETS + 1)];
	struct lane_use uses[PICKS_SLOTS * (PICKS_MOST_TARGETS + 1)];
	const struct picks *picks = share->picks;
	size_t count = 0;

	for (size_t i = share->first; i < picks->used_slots; i += share->step)
		count += set_lanes(picks, share->order[i], lanes + count, uses + count);
	fnv_update_many(lanes, count);
	for (size_t i = 0; i < count; i++) {
		const struct picks_slot *slot = &picks->slots[uses[i].slot];
		struct pick *pick = &picks->items[slot->pick];

		if (uses[i].target == PICKS_MOST_TARGETS)
			pick->identity = fnv_update(lanes[i].state, slot->load_tail, pick->load_tail_bytes);
		else
			finish_keys(picks, slot, uses[i].target, lanes[i].state);
	}
}

static void work_off(void *context)
{
	struct share *share = context;
	const struct picks *picks = share->picks;

	for (size_t i = share->first; i < picks->used_slots; i += share->step)
		unpack_payload(picks, &picks->slots[share->order[i]]);
	hash_share(share);
}

static size_t count_pick_threads(const struct picks *picks)
{
	const uint64_t worth = picks->used_bytes / THREAD_BYTES;
	size_t most = os_cores();

	most = most < MOST_THREADS ? most : MOST_THREADS;
	most = most < picks->used_slots ? most : picks->used_slots;
	most = most < worth ? most : (size_t)worth;
	return most ? most : 1;
}

int picks_flush(struct jw_error *err, struct picks *picks)
{
	const size_t count = count_pick_threads(picks);
	struct share shares[MOST_THREADS] = {0};
	uv_thread_t threads[MOST_THREADS];
	size_t order[PICKS_SLOTS], started = 1;
	int result = 0;

	order_slots(picks, order);
	for (size_t i = 0; i < count; i++)
		shares[i] = (struct share){.picks = picks, .order = order, .first = i, .step = count};
	while (started < count && !os_thread_start(&threads[started], work_off, &shares[started]))
		started++;
	work_off(&shares[0]);
	for (size_t i = started; i < count; i++)
		work_off(&shares[i]);
	for (size_t i = 1; i < started; i++)
		(void)uv_thread_join(&threads[i]);
	for (size_t i = 0; i < count; i++)
		if (!result && shares[i].why.code)
			result = error_copy(err, &shares[i].why);
	for (size_t i = 0; i < picks->used_slots; i++) {
		if (picks->slots[i].copy.capacity > KEEP_BYTES)
			buf_free(&picks->slots[i].copy);
		if (picks->slots[i].payload.capacity > KEEP_BYTES)
			buf_free(&picks->slots[i].payload);
	}
	picks->used_slots = 0;
	picks->used_bytes = 0;
	return result;
}
