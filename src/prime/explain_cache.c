/* Explains cold modules by the cache's other entries. */
#include "prime/explain.h"

#include <string.h>

#include <jitwarm/cache.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/cache_files.h"
#include "cache/key_parts.h"
#include "devcode/container.h"
#include "os/file.h"

enum {
	MOST_STAMPS = 4,   /* most other drivers: each needs another plan of all files */
	MOST_REREAD = 256, /* most modules that are compared byte by byte */
};

/* A CUDA entry of the cache. */
struct cached_entry {
	uint64_t key, payload_bytes;
	char stamp[CACHE_STAMP_SIZE + 1];
	uint16_t sm;
	enum cache_key_form form;
};

struct cached_entries {
	struct cached_entry *entries;
	size_t count;
	struct set by_size; /* of the payload */
};

static bool open_entry(const char *dir, uint64_t key, struct os_map *map,
					   struct cache_key_parts *parts)
{
	char *path = cache_entry_path(NULL, dir, key);
	struct cache_entry entry;
	bool open = path && !os_map_open(NULL, path, map);

	mem_free(path);
	if (!open)
		return false;
	if (cache_entry_parse(map->data, map->size, &entry) == CACHE_SOUND &&
		cache_key_split(entry.key, (size_t)entry.key_bytes, parts))
		return true;
	os_map_close(map);
	return false;
}

static int see_cache(struct jw_error *err, const char *dir, struct cached_entries *seen)
{
	struct cache_files scan = {0};
	struct jw_error why = {0};
	int result = -1;

	/* A missing or unreadable cache explains nothing. */
	if (cache_files_scan(&why, dir, &scan))
		return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
	seen->entries = mem_array(err, scan.count, sizeof *seen->entries);
	if (!seen->entries)
		goto done;
	for (size_t i = 0; i < scan.count; i++) {
		struct cached_entry *entry = &seen->entries[seen->count];
		struct cache_key_parts parts;
		struct os_map map;

		if (!open_entry(dir, scan.files[i].key, &map, &parts))
			continue;
		if (!parts.jitlink) {
			*entry = (struct cached_entry){scan.files[i].key, parts.payload_size, "",
										   parts.target.sm, parts.form};
			memcpy(entry->stamp, parts.stamp, sizeof entry->stamp);
			if (set_add(err, &seen->by_size, parts.payload_size, seen->count++)) {
				os_map_close(&map);
				goto done;
			}
		}
		os_map_close(&map);
	}
	result = 0;
done:
	cache_files_free(&scan);
	return result;
}

/* The stamps of other drivers, those with the most entries first. */
static size_t other_stamps(const struct cached_entries *seen, const char *own,
						   const char *stamps[MOST_STAMPS])
{
	size_t counts[MOST_STAMPS] = {0}, used = 0;

	for (size_t i = 0; i < seen->count; i++) {
		const char *stamp = seen->entries[i].stamp;
		size_t at = 0, count = 0;

		while (at < used && strcmp(stamps[at], stamp) != 0)
			at++;
		if (at < used || !strcmp(stamp, own))
			continue;
		for (size_t k = i; k < seen->count; k++)
			count += !strcmp(seen->entries[k].stamp, stamp);
		if (used == MOST_STAMPS && counts[used - 1] >= count)
			continue;
		at = used < MOST_STAMPS ? used++ : used - 1;
		for (; at > 0 && counts[at - 1] < count; at--) {
			counts[at] = counts[at - 1];
			stamps[at] = stamps[at - 1];
		}
		counts[at] = count;
		stamps[at] = stamp;
	}
	return used;
}

static uint64_t cause_place_of(const struct plan *plan, const struct plan_module *module)
{
	const struct plan_file *file = &plan->files[module->file];
	uint64_t state = fnv_update(FNV_START, file->path, strlen(file->path) + 1);

	if (file->member)
		state = fnv_update(state, file->member, strlen(file->member) + 1);
	state = fnv_update(state, &module->container_offset, sizeof module->container_offset);
	return fnv_update(state, &plan->targets[module->target].device.sm, sizeof(uint16_t));
}

static int mark_driver(struct jw_error *err, const struct explain_request *request,
					   const struct plan *other, struct explanation *explanations)
{
	struct set places = {0};
	int result = -1;

	for (size_t i = 0; i < other->module_count; i++)
		if (other->modules[i].state == PLAN_WARM &&
			set_add(err, &places, cause_place_of(other, &other->modules[i]), i))
			goto done;
	for (size_t i = 0; i < request->plan->module_count; i++) {
		size_t cursor = 0;

		if (explanations[i].reason != JW_COLD_NEVER ||
			set_find(&places, cause_place_of(request->plan, &request->plan->modules[i]), &cursor) ==
				SET_NONE)
			continue;
		explanations[i].reason = JW_COLD_DRIVER;
		memcpy(explanations[i].stamp, other->profile.stamp, sizeof explanations[i].stamp);
	}
	result = 0;
done:
	set_free(&places);
	return result;
}

static size_t count_never(const struct explain_request *request,
						  const struct explanation *explanations)
{
	size_t count = 0;

	for (size_t i = 0; i < request->plan->module_count; i++)
		count += explanations[i].reason == JW_COLD_NEVER;
	return count;
}

static int ask_drivers(struct jw_error *err, const struct explain_request *request,
					   const struct cached_entries *seen, struct explanation *explanations)
{
	const char *stamps[MOST_STAMPS];
	size_t count = other_stamps(seen, request->plan->profile.stamp, stamps);

	for (size_t i = 0; i < count && count_never(request, explanations); i++) {
		const char *release = jw_cache_driver_of_stamp(stamps[i]);
		struct cache_profile profile = {.trust = CACHE_STAMP_CONFIRMED,
										.driver = request->plan->profile.driver};
		struct plan_request again = *request->again;
		struct plan *plan;
		int failed;

		if (release)
			(void)jw_driver_parse(NULL, release, &profile.driver);
		TEXT_COPY(profile.stamp, stamps[i]);
		again.profile = &profile;
		if (plan_build(err, &again, &plan))
			return -1;
		failed = mark_driver(err, request, plan, explanations);
		plan_free(plan);
		if (failed)
			return -1;
	}
	return 0;
}

/* The payload of one of the plan's modules, in `scratch` or `bytes`. */
static bool read_payload(const struct plan *plan, const struct plan_module *module,
						 struct buf *bytes, struct buf *scratch, struct devcode_view *ret_view)
{
	const struct plan_file *file = &plan->files[module->file];
	struct container_walk walk = {0};
	const struct devcode_part part = {.member = file->member,
									  .offset = module->container_offset,
									  .size_bytes = module->container_bytes};
	struct devcode_container container = {.offset = module->container_offset};
	struct devcode_entry *entries;
	bool found = false;

	if (devcode_reread(NULL, file->path, &part, NULL, bytes))
		return false;
	if (module->form == CACHE_KEY_TEXT) {
		*ret_view = (struct devcode_view){bytes->data, (size_t)module->payload_bytes};
		return module->payload_bytes <= bytes->size;
	}
	if (container_check(&walk, bytes->data, bytes->size, bytes->size) != CONTAINER_SOUND)
		return false;
	entries = mem_array(NULL, walk.entries, sizeof *entries);
	if (!entries)
		return false;
	container_entries(bytes->data, walk.size_bytes, container.offset, entries, walk.entries);
	container.bytes = bytes->data;
	container.size_bytes = walk.size_bytes;
	container.entries = entries;
	container.entry_count = walk.entries;
	for (size_t i = 0; i < walk.entries && !found; i++)
		found = entries[i].offset == module->entry_offset &&
				!devcode_payload(NULL, &container, &entries[i], scratch, ret_view);
	mem_free(entries);
	return found;
}

static void describe_difference(struct explanation *explanation,
								const struct cache_key_parts *parts, bool same_gpu)
{
	size_t length = parts->options_length < sizeof explanation->options
						? parts->options_length
						: sizeof explanation->options - 1;

	explanation->reason = same_gpu ? JW_COLD_OPTIONS : JW_COLD_GPU;
	if (!same_gpu) {
		explanation->sm = parts->target.sm;
		return;
	}
	for (size_t i = 0; i < length; i++)
		explanation->options[i] =
			(char)(parts->options[i] >= ' ' && parts->options[i] <= '~' ? parts->options[i] : '?');
}

static void compare_with_cached(const struct explain_request *request,
								const struct cached_entries *seen, const struct plan_module *module,
								struct explanation *explanation)
{
	const struct plan *plan = request->plan;
	const uint16_t sm = plan->targets[module->target].device.sm;
	struct buf bytes = {0}, scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	struct devcode_view view;
	size_t cursor = 0, at;
	bool read = false;

	while (seen->entries &&
		   (at = set_find(&seen->by_size, module->payload_bytes, &cursor)) != SET_NONE) {
		const struct cached_entry *entry = &seen->entries[at];
		struct cache_key_parts parts;
		struct os_map map;

		if (strcmp(entry->stamp, plan->profile.stamp) != 0 ||
			(explanation->reason == JW_COLD_GPU && entry->sm != sm))
			continue;
		if (!read && !read_payload(plan, module, &bytes, &scratch, &view))
			break;
		read = true;
		if (!open_entry(plan->cache_dir, entry->key, &map, &parts))
			continue;
		if (parts.payload_size == view.size && !memcmp(parts.payload, view.data, view.size))
			describe_difference(explanation, &parts, entry->sm == sm);
		os_map_close(&map);
		if (explanation->reason == JW_COLD_OPTIONS)
			break;
	}
	buf_free(&bytes);
	buf_free(&scratch);
}

int explain_by_cache(struct jw_error *err, const struct explain_request *request,
					 struct explanation *explanations)
{
	struct cached_entries seen = {0};
	size_t compared = 0;
	int result = -1;

	if (!count_never(request, explanations))
		return 0;
	if (see_cache(err, request->plan->cache_dir, &seen) ||
		ask_drivers(err, request, &seen, explanations))
		goto done;
	for (size_t i = 0; i < request->plan->module_count && compared < MOST_REREAD; i++) {
		size_t cursor = 0;
		const struct plan_module *module = &request->plan->modules[i];

		if (explanations[i].reason != JW_COLD_NEVER ||
			set_find(&seen.by_size, module->payload_bytes, &cursor) == SET_NONE)
			continue;
		compared++;
		compare_with_cached(request, &seen, module, &explanations[i]);
	}
	result = 0;
done:
	mem_free(seen.entries);
	set_free(&seen.by_size);
	return result;
}
