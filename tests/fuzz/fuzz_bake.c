/* Containers to which machine code is added: the result is no longer, is sound, and contains the
 * code; entries that were not dropped are unchanged. The input's last byte chooses the options. */
#include "bake/container_edit.h"
#include "base/mem.h"
#include "devcode/container.h"
#include "fuzz_devcode.h"

enum { MOST_ENTRIES = 1 << 12, SMALL = 24, LARGE = 400 };

static void check(const struct devcode_container *before, const struct buf *out,
				  enum container_edit_room room, size_t dropped)
{
	struct container_walk walk = {0};
	const uint64_t used = CONTAINER_HEADER + load_u64(out->data + 8);

	MUST(out->size == used && used <= before->size_bytes);
	MUST(container_check(&walk, out->data, used, used) == CONTAINER_SOUND);
	MUST(walk.entries <= before->entry_count + 1);
	MUST(room == CONTAINER_EDIT_WITHOUT_PTX || walk.entries + dropped == before->entry_count + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t code[LARGE] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7};
	static const struct jw_target gpu = {.sm = 86};
	const uint8_t how = size ? data[size - 1] : 0;
	const struct write_cubin cubin = {
		.cubin = {code, how & 1 ? LARGE : SMALL}, .target = gpu, .flags = 0x11};
	struct buf out = BUF_MAX(1 << 24);
	struct container_walk walk = {0};
	struct devcode_entry *entries;
	struct devcode_container container;
	struct container_form form;

	if (!size || container_check(&walk, data, size - 1, size - 1) != CONTAINER_SOUND ||
		walk.entries > MOST_ENTRIES)
		return 0;
	entries = mem_array(NULL, walk.entries, sizeof *entries);
	MUST(entries);
	container_entries(data, walk.size_bytes, 0, entries, walk.entries);
	container = (struct devcode_container){.size_bytes = walk.size_bytes,
										   .bytes = data,
										   .entries = entries,
										   .entry_count = walk.entries};
	const struct container_edit edit = {.container = &container,
										.cubins = &cubin,
										.cubin_count = 1,
										.gpus = &gpu,
										.gpu_count = 1,
										.drop_ptx = how & 2,
										.zstd = how & 4};
	if (!container_edit(NULL, &edit, &form)) {
		MUST((form.room == CONTAINER_EDIT_NO_ROOM) == !form.parts);
		if (form.parts) {
			MUST(!container_form_join(NULL, &form, &out));
			check(&container, &out, form.room, form.dropped);
		}
		container_form_free(&form);
	}
	buf_free(&out);
	mem_free(entries);
	return 0;
}
