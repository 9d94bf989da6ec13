#include "base/mem.h"
#include "code/container.h"
#include "code/devcode.h"
#include "os/file.h"
#include "plan/picks.h"
#include "plan/plan.h"

/* Returns the key of the PTX at the module's place in its container; 0 if there is none. */
static uint64_t key_in_container(const struct plan *plan, const struct plan_module *module,
								 const struct buf *image)
{
	const struct devcode_container container = {.bytes = image->data, .size_bytes = image->size};
	const uint64_t offset = module->entry_offset - module->container_offset;
	struct buf unpacked = BUF_MAX(DEVCODE_MAX_PAYLOAD);
	struct container_walk walk = {0};
	struct devcode_entry *entries;
	uint64_t key = 0;

	if (container_check(&walk, image->data, image->size, image->size) != CONTAINER_SOUND)
		return 0;
	entries = mem_array(walk.entries, sizeof *entries);
	container_entries(image->data, walk.size_bytes, 0, entries, walk.entries);
	for (size_t i = 0; i < walk.entries; i++) {
		struct devcode_view payload;
		struct cache_key_input input;

		if (entries[i].offset != offset || !devcode_kind_is_ptx(entries[i].kind) ||
			devcode_payload(NULL, &container, &entries[i], &unpacked, &payload))
			continue;
		input = picks_key_input(&container, &entries[i], payload,
								plan->targets[module->target].device.sm, module->form);
		key = cache_key_hash(plan->profile.stamp, &input, NULL);
	}
	mem_free(entries);
	buf_free(&unpacked);
	return key;
}

bool plan_is_changed(const struct plan *plan, const struct plan_module *module, const char *path,
					 uint64_t offset, uint64_t size_bytes)
{
	struct buf image = BUF_MAX(INT32_MAX);
	struct os_file *file;
	size_t got = 0;
	uint64_t key;
	bool changed = false;

	if (os_file_open(NULL, path, OS_OPEN_READ, &file))
		return false;
	if (!buf_reserve(NULL, &image, (size_t)size_bytes) &&
		!os_file_read(NULL, file, offset, image.data, (size_t)size_bytes, &got)) {
		image.size = got;
		key = module->form == CACHE_KEY_TEXT
				  ? cache_key_hash(
						plan->profile.stamp,
						&(struct cache_key_input){
							.sm = plan->targets[module->target].device.sm,
							.form = CACHE_KEY_TEXT,
							.payload = image.data,
							.payload_size = cache_key_payload(CACHE_KEY_TEXT, image.data, got)},
						NULL)
				  : key_in_container(plan, module, &image);
		changed = key != module->key;
	}
	os_file_close(file);
	buf_free(&image);
	return changed;
}
