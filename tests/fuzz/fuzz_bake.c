/* Adds machine code to containers: the result is sound, and has one more entry. The input's last
 * byte chooses the code's size. */
#include "bake/container_edit.h"
#include "base/mem.h"
#include "code/container.h"
#include "fuzz_devcode.h"

enum { MAX_ENTRIES = 1 << 12, SMALL = 24, LARGE = 400 };

static void check(const struct devcode_container *before, const struct buf *out)
{
	struct container_walk walk = {0};

	MUST(out->size == CONTAINER_HEADER + load_u64(out->data + 8));
	MUST(container_check(&walk, out->data, out->size, out->size) == CONTAINER_SOUND);
	MUST(walk.entries == before->entry_count + 1);
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
		walk.entries > MAX_ENTRIES)
		return 0;
	entries = mem_array(walk.entries, sizeof *entries);
	MUST(entries);
	container_entries(data, walk.size_bytes, 0, entries, walk.entries);
	container = (struct devcode_container){.size_bytes = walk.size_bytes,
										   .bytes = data,
										   .entries = entries,
										   .entry_count = walk.entries};
	if (!container_edit(NULL, &container, &cubin, 1, &form)) {
		MUST(!container_form_join(NULL, &form, &out));
		check(&container, &out);
		container_form_free(&form);
	}
	buf_free(&out);
	mem_free(entries);
	return 0;
}
