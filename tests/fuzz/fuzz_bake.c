/* Containers to which machine code is added: the result has the same size, is sound, and contains
 * the code; entries that were not dropped are unchanged. The last byte of the input chooses the
 * options. */
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

	MUST(out->size == before->size_bytes && used <= out->size);
	MUST(container_check(&walk, out->data, used, used) == CONTAINER_SOUND);
	MUST(walk.entries <= before->entry_count + 1);
	MUST(room == CONTAINER_EDIT_WITHOUT_PTX || walk.entries + dropped == before->entry_count + 1);
	for (uint64_t i = used; i < out->size; i++)
		MUST(!out->data[i]);
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
	enum container_edit_room room;
	struct devcode_container container;
	size_t dropped;

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
	if (!container_edit(NULL, &edit, &out, &room, &dropped)) {
		MUST((room == CONTAINER_EDIT_NO_ROOM) == !out.size);
		if (out.size)
			check(&container, &out, room, dropped);
	}
	buf_free(&out);
	mem_free(entries);
	return 0;
}
