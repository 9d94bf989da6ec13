#include "bake/baking.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "devcode/container.h"
#include "devcode/cubin.h"
#include "os/file.h"
#include "plan/picks.h"
#include "plan/verdict.h"

enum { FIRST_COMPAT_SM = 100 };

struct baking *baking_new(struct jw_error *err, const struct bake_file_job *job,
						  struct jw_bake_file *file)
{
	struct baking *baking = mem_alloc(err, sizeof *baking);

	if (!baking)
		return NULL;
	baking->job = job;
	baking->file = file;
	baking->scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD + 1);
	return baking;
}

struct baking *baking_twin(struct jw_error *err, const struct baking *baking,
						   struct jw_bake_file *file)
{
	struct baking *twin = baking_new(err, baking->job, file);

	if (twin) {
		twin->map = (struct os_map){.data = baking->map.data, .size = baking->map.size};
		memcpy(twin->link, baking->link, sizeof twin->link);
	}
	return twin;
}

void baking_free(struct baking *baking)
{
	if (!baking)
		return;
	baked_output_drop(&baking->output);
	os_map_close(&baking->map);
	for (size_t t = 0; t < ANALYSE_MOST_TARGETS; t++)
		buf_free(&baking->cubins[t]);
	buf_free(&baking->scratch);
	container_form_free(&baking->form);
	mem_free(baking->entries);
	mem_free(baking->texts);
	mem_free(baking->places.items);
	mem_free(baking->objects);
	mem_free(baking->links);
	mem_free(baking);
}

int baking_open(struct jw_error *err, struct baking *baking, const struct bake_place *place,
				bool *ret_is_there)
{
	const uint8_t *bytes = baking->map.data + place->offset;
	struct container_walk walk = {0};

	*ret_is_there = false;
	if (!range_fits(place->offset, place->size_bytes, baking->map.size) ||
		place->size_bytes < CONTAINER_HEADER ||
		container_check(&walk, bytes, place->size_bytes, place->size_bytes) != CONTAINER_SOUND ||
		walk.size_bytes != place->size_bytes)
		return 0;
	if (walk.entries > baking->entry_room) {
		mem_free(baking->entries);
		mem_free(baking->texts);
		baking->entry_room = 0;
		baking->entries = mem_array(err, walk.entries, sizeof *baking->entries);
		baking->texts = mem_array(err, walk.entries, sizeof *baking->texts);
		if (!baking->entries || !baking->texts)
			return -1;
		baking->entry_room = walk.entries;
	}
	if (walk.entries)
		memset(baking->texts, 0, walk.entries * sizeof *baking->texts);
	container_entries(bytes, place->size_bytes, place->offset, baking->entries, walk.entries);
	baking->container = (struct devcode_container){.offset = place->offset,
												   .size_bytes = place->size_bytes,
												   .bytes = bytes,
												   .entries = baking->entries,
												   .entry_count = walk.entries};
	*ret_is_there = true;
	return 0;
}

int baking_find_ptx(struct jw_error *err, struct baking *baking, const struct bake_place *place,
					size_t target, size_t *ret_entry)
{
	const struct bake_file_job *job = baking->job;
	const bool relocatable = place->role == DEVCODE_RELOCATABLE;
	struct plan_judgement judged = {.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};

	*ret_entry = SIZE_MAX;
	for (int pass = 0; pass < 2; pass++) {
		judged = plan_judge(&baking->container, baking->texts, relocatable, job->targets[target],
							&job->profile->driver);
		if (judged.verdict != VERDICT_JIT && judged.verdict != VERDICT_LINK)
			return 0;
		for (size_t i = 0; !pass && i < baking->container.entry_count; i++)
			if (plan_read_text(err, &baking->container, &baking->entries[i], &baking->texts[i]))
				return -1;
	}
	/* A library itself links other relocatable code, and needs its PTX. */
	if (judged.verdict == VERDICT_JIT || (relocatable && baking->link[target]))
		*ret_entry = judged.entry;
	return 0;
}

int baking_find_cubin(struct jw_error *err, struct baking *baking, size_t target, size_t index,
					  bool relocatable, struct devcode_view *ret_cubin)
{
	const struct bake_file_job *job = baking->job;
	const struct devcode_entry *entry = &baking->container.entries[index];
	struct buf *bytes = &baking->cubins[target];
	struct cache_key_input input;
	struct devcode_view payload;
	struct cache_entry found;
	char *path;
	int failed;

	if (devcode_payload(err, &baking->container, entry, &baking->scratch, &payload))
		return -1;
	input = picks_key_input(&baking->container, entry, payload, job->targets[target].sm,
							relocatable ? CACHE_KEY_LINK : CACHE_KEY_LOAD);
	path = cache_entry_path(err, job->cache_dir, cache_key_hash(job->profile, &input, NULL));
	if (!path)
		return -1;
	buf_free(bytes);
	failed = os_read_file(err, path, CACHE_MOST_ENTRY, bytes);
	mem_free(path);
	if (failed)
		return -1;
	if (cache_entry_parse(bytes->data, bytes->size, &found) != CACHE_SOUND ||
		!cache_key_is(job->profile, &input, found.key, found.key_bytes) ||
		fnv_update(FNV_START, found.value, (size_t)found.value_bytes) != found.checksum)
		return error_set(err, JW_ERR_NOT_FOUND, "its entry is damaged");
	*ret_cubin = (struct devcode_view){found.value, (size_t)found.value_bytes};
	return 0;
}

struct jw_target baking_entry_target(struct jw_target gpu, char text_suffix)
{
	if (gpu.sm < FIRST_COMPAT_SM)
		gpu.suffix = text_suffix;
	else
		gpu.suffix = 'a';
	return gpu;
}

bool baking_is_written(const struct baking *baking, struct devcode_view cubin,
					   struct jw_target device)
{
	const uint32_t driver = baking->job->profile->driver.cuda;
	struct cubin_header header;

	if (cubin_read(NULL, cubin.data, cubin.size, &header) || header.sm != device.sm ||
		(driver && cubin_cuda(cubin.data, cubin.size, 0, device.sm) > driver))
		return false;
	return device.sm < FIRST_COMPAT_SM ||
		   (header.abi == CUBIN_ABI_8 && cubin_compat(cubin).size > 0);
}
