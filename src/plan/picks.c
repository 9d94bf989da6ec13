#include "plan/picks.h"

#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "cache/key.h"
#include "os/platform.h"
#include "os/uv.h"

/* Collected payloads use at most this much memory, or as much as one larger payload alone. With
 * fewer bytes than THREAD_BYTES, a thread is not worth the 50 us for its start and end. Buffers of
 * more than KEEP_BYTES are freed after each round. */
enum { GATHER_BYTES = 12 << 20, KEEP_BYTES = 1 << 18, MAX_THREADS = 4, THREAD_BYTES = 1 << 19 };

struct picks_slot {
	struct devcode_entry entry; /* its payload_offset is a place in `stored` */
	struct devcode_view stored; /* the bytes to decompress: in `copy`, or in the container */
	bool mapped;                /* they may change */
	struct buf copy;
	struct buf payload;
	struct devcode_view view; /* the payload, in `payload` or in `stored` */
	size_t pick;
	uint32_t targets;
	char load_tail[CACHE_KEY_MAX_TAIL], link_tail[CACHE_KEY_MAX_TAIL];
};

int picks_init(struct jw_error *err, struct picks *picks, const struct jw_target *targets,
			   size_t target_count, const struct cache_profile *profile)
{
	struct picks made = {.target_count = target_count};

	if (target_count > PLAN_MAX_TARGETS)
		return error_set(err, JW_ERR_USAGE, "more than %d GPU architectures at once",
						 PLAN_MAX_TARGETS);
	made.keyed = profile && profile->stamp[0] && target_count;
	for (size_t i = 0; i < target_count && made.keyed; i++)
		made.targets[i].start =
			cache_key_start(profile->stamp, targets[i].sm, &made.targets[i].start_bytes);
	made.slots = mem_array(PICKS_SLOTS, sizeof *made.slots);
	for (size_t i = 0; i < PICKS_SLOTS; i++)
		made.slots[i].copy = made.slots[i].payload = BUF_MAX(DEVCODE_MAX_PAYLOAD);
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

/* Records facts that are known before decompression. */
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
		memmove(slot->load_tail, slot->load_tail + 1, --pick->load_tail_bytes);
		memmove(slot->link_tail, slot->link_tail + 1, --pick->link_tail_bytes);
	}
	pick->module.features.line_info = wants_line_info(options, options_length);
}

int picks_add(struct jw_error *err, struct picks *picks, const struct devcode_container *container,
			  const struct devcode_entry *entry, uint32_t targets, size_t *ret_index)
{
	/* The larger of both sizes counts, because hostile headers may exaggerate either. */
	const uint64_t bulk =
		entry->size_bytes > entry->stored_bytes ? entry->size_bytes : entry->stored_bytes;
	struct picks_slot *slot;
	struct pick *pick;

	/* A large payload is not held beside others. */
	if (picks->used_slots && bulk > GATHER_BYTES - picks->used_bytes)
		picks_flush(picks);
	if (VEC_ROOM(err, picks->items, picks->capacity, picks->count, PICKS_MAX))
		return -1;
	if (picks->keys_capacity < picks->capacity) {
		picks->keys = mem_resize(picks->keys,
								 picks->capacity * (picks->target_count + 1) * sizeof *picks->keys);
		picks->keys_capacity = picks->capacity;
	}
	memset(picks->keys + picks->count * picks->target_count, 0,
		   picks->target_count * sizeof *picks->keys);
	pick = &picks->items[picks->count];
	*pick = (struct pick){.module = {.container_offset = container->offset,
									 .container_bytes = container->size_bytes,
									 .entry_offset = entry->offset,
									 .payload_bytes = entry->size_bytes},
						  .text = !entry->payload_offset};
	slot = &picks->slots[picks->used_slots];
	if (!devcode_stored(NULL, container, entry, &slot->stored)) {
		slot->entry = *entry;
		slot->entry.payload_offset = 0;
		/* The container's bytes do not outlive the call, so smaller payloads are copied; a large
		 * one is processed during the call. */
		slot->mapped = container->mapped && bulk >= GATHER_BYTES;
		if (bulk < GATHER_BYTES) {
			buf_clear(&slot->copy);
			(void)buf_append(NULL, &slot->copy, slot->stored.data, slot->stored.size);
			slot->stored.data = slot->copy.data;
		}
		describe_options(pick, slot, container, entry);
		slot->pick = picks->count;
		slot->targets = targets;
		picks->used_bytes += bulk;
		picks->used_slots++;
	}
	*ret_index = picks->count++;
	if (picks->used_slots == PICKS_SLOTS || picks->used_bytes >= GATHER_BYTES)
		picks_flush(picks);
	return 0;
}

/* Computes the identities of a pick's keys. The payload is hashed once, unless the key has no NUL
 * that ends it. */
static void identify_pick(const struct picks_slot *slot, struct pick *pick)
{
	const size_t body = (size_t)pick->body_bytes;
	struct digest payload;

	if (*slot->load_tail) {
		cache_key_identity_of_rest(&pick->load, slot->view.data, body, slot->load_tail,
								   pick->load_tail_bytes);
		cache_key_identity_of_rest(&pick->link, slot->view.data, body, slot->link_tail,
								   pick->link_tail_bytes);
		return;
	}
	digest_of(&payload, slot->view.data, body);
	cache_key_identity(&pick->load, &payload, slot->load_tail, pick->load_tail_bytes);
	cache_key_identity(&pick->link, &payload, slot->link_tail, pick->link_tail_bytes);
}

/* Decompresses and counts a payload. It stays unreadable if it cannot be unpacked. */
static void unpack_payload(const struct picks *picks, struct picks_slot *slot)
{
	struct pick *pick = &picks->items[slot->pick];
	const struct devcode_container alone = {
		.bytes = slot->stored.data, .mapped = slot->mapped, .size_bytes = slot->stored.size};
	const bool object = slot->entry.kind == DEVCODE_KIND_RELOCATABLE_PTX;
	const bool line_info = pick->module.features.line_info;

	if (devcode_payload(NULL, &alone, &slot->entry, &slot->payload, &slot->view)) {
		slot->view = (struct devcode_view){0};
		return;
	}
	pick->module.payload_bytes = slot->view.size;
	pick->body_bytes = cache_key_payload(object || pick->text ? CACHE_KEY_TEXT : CACHE_KEY_LOAD,
										 slot->view.data, slot->view.size);
	pick->readable = pick->load_tail_bytes && pick->link_tail_bytes;
	pick->module.features = plan_features_of(slot->view.data, slot->view.size);
	pick->module.features.line_info = line_info;
	if (pick->readable)
		identify_pick(slot, pick);
}

/* The key that a lane hashes: that of a slot for one target. */
struct lane_use {
	uint16_t slot, target;
};

/* Sets one hash lane for each key of a slot: one for each target. Returns their number. */
static size_t set_lanes(const struct picks *picks, size_t slot_index, struct fnv_lane *lanes,
						struct lane_use *uses)
{
	const struct picks_slot *slot = &picks->slots[slot_index];
	const struct pick *pick = &picks->items[slot->pick];
	size_t count = 0;

	if (!slot->view.data)
		return 0;
	for (size_t t = 0; t < picks->target_count; t++) {
		if (!picks->keyed || !(slot->targets >> t & 1))
			continue;
		lanes[count] =
			(struct fnv_lane){picks->targets[t].start, slot->view.data, (size_t)pick->body_bytes};
		uses[count++] = (struct lane_use){(uint16_t)slot_index, (uint16_t)t};
	}
	return count;
}

/* The share of one thread: every `step`-th of `order` from `first` on. */
struct share {
	const struct picks *picks;
	const size_t *order;
	size_t first, step;
};

/* Decompresses the payloads of a share, then computes their keys, hashing side by side. */
static void compute_share(void *context)
{
	const struct share *share = context;
	struct fnv_lane lanes[PICKS_SLOTS * PLAN_MAX_TARGETS];
	struct lane_use uses[PICKS_SLOTS * PLAN_MAX_TARGETS];
	const struct picks *picks = share->picks;
	size_t count = 0;

	for (size_t i = share->first; i < picks->used_slots; i += share->step)
		unpack_payload(picks, &picks->slots[share->order[i]]);
	for (size_t i = share->first; i < picks->used_slots; i += share->step)
		count += set_lanes(picks, share->order[i], lanes + count, uses + count);
	fnv_update_many(lanes, count);
	for (size_t i = 0; i < count; i++) {
		const struct picks_slot *slot = &picks->slots[uses[i].slot];
		const struct pick *pick = &picks->items[slot->pick];

		picks->keys[slot->pick * picks->target_count + uses[i].target] = (struct pick_keys){
			.load = fnv_update(lanes[i].state, slot->load_tail, pick->load_tail_bytes),
			.link = fnv_update(lanes[i].state, slot->link_tail, pick->link_tail_bytes),
		};
	}
}

void picks_flush(struct picks *picks)
{
	const uint64_t worth = picks->used_bytes / THREAD_BYTES;
	struct share shares[MAX_THREADS] = {0};
	uv_thread_t threads[MAX_THREADS];
	size_t order[PICKS_SLOTS], started = 1, count = os_cores();

	count = count < MAX_THREADS ? count : MAX_THREADS;
	count = count < picks->used_slots ? count : picks->used_slots;
	count = count < worth ? count : (size_t)worth;
	count = count ? count : 1;
	/* The longest payloads come first, so that few lanes are idle at the end. */
	for (size_t i = 0; i < picks->used_slots; i++) {
		const uint64_t size = picks->slots[i].entry.size_bytes;
		size_t at = i;

		for (; at && picks->slots[order[at - 1]].entry.size_bytes < size; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (size_t i = 0; i < count; i++)
		shares[i] = (struct share){.picks = picks, .order = order, .first = i, .step = count};
	while (started < count && !os_thread_start(&threads[started], compute_share, &shares[started]))
		started++;
	compute_share(&shares[0]);
	for (size_t i = started; i < count; i++)
		compute_share(&shares[i]);
	for (size_t i = 1; i < started; i++)
		(void)uv_thread_join(&threads[i]);
	for (size_t i = 0; i < picks->used_slots; i++) {
		if (picks->slots[i].copy.capacity > KEEP_BYTES)
			buf_free(&picks->slots[i].copy);
		if (picks->slots[i].payload.capacity > KEEP_BYTES)
			buf_free(&picks->slots[i].payload);
	}
	picks->used_slots = 0;
	picks->used_bytes = 0;
}
