#include "plan/picks.h"

#include <string.h>

#include "base/mem.h"
#include "cache/key.h"
#include "devcode/ptx.h"

/* Gathered payloads take at most this much memory, or as much as a larger one that is alone. */
enum { GATHER_BYTES = 12 << 20, KEEP_BYTES = 1 << 18 };

struct picks_slot {
	struct buf payload;
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
	made.slots = mem_array(err, PICKS_SLOTS, sizeof *made.slots);
	if (!made.slots)
		return -1;
	for (size_t i = 0; i < PICKS_SLOTS; i++)
		made.slots[i].payload = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	*picks = made;
	return 0;
}

void picks_free(struct picks *picks)
{
	for (size_t i = 0; picks->slots && i < PICKS_SLOTS; i++)
		buf_free(&picks->slots[i].payload);
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
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	keys = mem_resize(err, picks->keys, picks->capacity * targets * sizeof *keys);
	if (!keys)
		return -1;
	picks->keys = keys;
	picks->keys_capacity = picks->capacity;
	return 0;
}

/* The payload in the slot's own memory: the container's bytes do not outlive the call. *ret_taken
 * is false where it cannot be decompressed; -1: out of memory. */
static int take_payload(struct jw_error *err, struct picks_slot *slot,
						const struct devcode_container *container,
						const struct devcode_entry *entry, struct devcode_view *ret_view,
						bool *ret_taken)
{
	struct devcode_view view;
	struct jw_error why = {0};

	*ret_taken = false;
	if (entry->damaged || entry->compression == DEVCODE_FOREIGN)
		return 0;
	if (devcode_payload(&why, container, entry, &slot->payload, &view))
		return why.code == JW_ERR_MEMORY ? error_set(err, why.code, "%s", why.message) : 0;
	if (view.data != slot->payload.data) {
		buf_clear(&slot->payload);
		if (buf_append(err, &slot->payload, view.data, view.size))
			return -1;
		view.data = slot->payload.data;
	}
	*ret_view = view;
	*ret_taken = true;
	return 0;
}

/* Loose PTX comes as a container whose bytes are the text itself. */
static bool is_text(const struct devcode_container *container)
{
	static const uint8_t magic[4] = {0x50, 0xed, 0x55, 0xba};

	return container->size_bytes < sizeof magic || memcmp(container->bytes, magic, sizeof magic);
}

/* A payload has at most 2^30 bytes. */
static struct plan_features count(struct devcode_view view)
{
	struct ptx_features features;

	ptx_count(view.data, view.size, &features);
	return (struct plan_features){.statements = (uint32_t)features.statements,
								  .branches = (uint32_t)features.branches,
								  .entries = (uint32_t)features.entries};
}

/* Whether the option string makes the compiler write a line table. */
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

/* Raw PTX that fills its eight bytes to the last has no NUL, and none in the driver's key either
 * (measured on 535, 550 and 555). devcode has cut the last NUL of every other raw payload, since
 * the tail begins with it. */
static bool is_bare(const struct devcode_entry *entry, struct devcode_view view)
{
	return entry->compression == DEVCODE_RAW && entry->payload_offset &&
		   view.size == entry->stored_bytes;
}

static void drop_first(char *tail, uint32_t *bytes)
{
	memmove(tail, tail + 1, --*bytes);
}

static void describe(struct pick *pick, struct picks_slot *slot,
					 const struct devcode_container *container, const struct devcode_entry *entry,
					 struct devcode_view view)
{
	const char *options = (const char *)container->bytes + entry->options_offset;
	/* Of kind 0x40 the text goes into the key, up to its NUL, and no options (measured on 555). */
	const bool object = entry->kind == DEVCODE_KIND_RELOCATABLE_PTX;
	const size_t options_length = object ? 0 : entry->options_length;
	enum cache_key_form form = pick->text ? CACHE_KEY_TEXT : CACHE_KEY_LOAD;

	pick->payload_bytes = view.size;
	pick->body_bytes = cache_key_payload(object ? CACHE_KEY_TEXT : form, view.data, view.size);
	pick->load_tail_bytes =
		(uint32_t)cache_key_tail(slot->load_tail, form, options, options_length);
	pick->link_tail_bytes =
		(uint32_t)cache_key_tail(slot->link_tail, CACHE_KEY_LINK, options, options_length);
	pick->readable = pick->load_tail_bytes && pick->link_tail_bytes;
	if (pick->readable && !object && is_bare(entry, view)) {
		drop_first(slot->load_tail, &pick->load_tail_bytes);
		drop_first(slot->link_tail, &pick->link_tail_bytes);
	}
	pick->features = count(view);
	pick->features.line_info = wants_line_info(options, options_length);
}

int picks_add(struct jw_error *err, struct picks *picks, const struct devcode_container *container,
			  const struct devcode_entry *entry, uint32_t targets, size_t *ret_index)
{
	struct devcode_view view = {0};
	struct picks_slot *slot;
	struct pick *pick;
	bool taken;

	/* A large one is not held beside the others. */
	if (picks->used_slots && entry->size_bytes > GATHER_BYTES - picks->used_bytes)
		picks_flush(picks);
	slot = &picks->slots[picks->used_slots];
	if (add_room(err, picks) || take_payload(err, slot, container, entry, &view, &taken))
		return -1;
	pick = &picks->items[picks->count];
	*pick = (struct pick){.container_offset = container->offset,
						  .container_bytes = container->size_bytes,
						  .entry_offset = entry->offset,
						  .payload_bytes = entry->size_bytes,
						  .text = is_text(container)};
	memset(picks->keys + picks->count * picks->target_count, 0,
		   picks->target_count * sizeof *picks->keys);
	if (taken) {
		describe(pick, slot, container, entry, view);
		slot->pick = picks->count;
		slot->targets = targets;
		picks->used_bytes += view.size;
		picks->used_slots++;
	}
	*ret_index = picks->count++;
	if (picks->used_slots == PICKS_SLOTS || picks->used_bytes >= GATHER_BYTES)
		picks_flush(picks);
	return 0;
}

static void finish_keys(struct picks *picks, const struct picks_slot *slot, size_t target,
						uint64_t state)
{
	const struct pick *pick = &picks->items[slot->pick];
	struct pick_keys *keys = &picks->keys[slot->pick * picks->target_count + target];

	keys->load = fnv_update(state, slot->load_tail, pick->load_tail_bytes);
	keys->link = fnv_update(state, slot->link_tail, pick->link_tail_bytes);
}

/* A lane for each target's key, or one for the identity; which is which stands beside it. */
struct lane_use {
	uint16_t slot, target; /* target == PICKS_MOST_TARGETS: the identity */
};

static size_t set_lanes(const struct picks *picks, size_t slot_index, struct fnv_lane *lanes,
						struct lane_use *uses)
{
	const struct picks_slot *slot = &picks->slots[slot_index];
	const struct pick *pick = &picks->items[slot->pick];
	size_t count = 0;

	if (!picks->keyed) {
		lanes[count] = (struct fnv_lane){FNV_START, slot->payload.data, slot->payload.size};
		uses[count++] = (struct lane_use){(uint16_t)slot_index, PICKS_MOST_TARGETS};
	}
	for (size_t t = 0; t < picks->target_count; t++) {
		if (!picks->keyed || !(slot->targets >> t & 1))
			continue;
		lanes[count] = (struct fnv_lane){picks->targets[t].start, slot->payload.data,
										 (size_t)pick->body_bytes};
		uses[count++] = (struct lane_use){(uint16_t)slot_index, (uint16_t)t};
	}
	return count;
}

/* The longest payloads first: then little is left at the end that has nothing beside it. */
static void order_slots(const struct picks *picks, size_t *order)
{
	for (size_t i = 0; i < picks->used_slots; i++) {
		const size_t size = picks->slots[i].payload.size;
		size_t at = i;

		for (; at && picks->slots[order[at - 1]].payload.size < size; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

void picks_flush(struct picks *picks)
{
	struct fnv_lane lanes[PICKS_SLOTS * (PICKS_MOST_TARGETS + 1)];
	struct lane_use uses[PICKS_SLOTS * (PICKS_MOST_TARGETS + 1)];
	size_t order[PICKS_SLOTS], count = 0;

	order_slots(picks, order);
	for (size_t i = 0; i < picks->used_slots; i++)
		count += set_lanes(picks, order[i], lanes + count, uses + count);
	fnv_update_many(lanes, count);
	for (size_t i = 0; i < count; i++) {
		const struct picks_slot *slot = &picks->slots[uses[i].slot];
		struct pick *pick = &picks->items[slot->pick];

		if (uses[i].target == PICKS_MOST_TARGETS)
			pick->identity = fnv_update(lanes[i].state, slot->load_tail, pick->load_tail_bytes);
		else
			finish_keys(picks, slot, uses[i].target, lanes[i].state);
	}
	for (size_t i = 0; i < picks->used_slots; i++)
		if (picks->slots[i].payload.capacity > KEEP_BYTES)
			buf_free(&picks->slots[i].payload);
	picks->used_slots = 0;
	picks->used_bytes = 0;
}
