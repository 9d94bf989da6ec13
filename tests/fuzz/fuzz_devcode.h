/* Reads everything that a reader returns, and checks the promises of devcode.h. */
#pragma once

#include "base/cursor.h"
#include "code/devcode.h"
#include "code/ptx.h"
#include "fuzz.h"

struct fuzz_seen {
	size_t containers; /* of the current image */
	uint64_t unpacked; /* bytes so far, since one decompression bomb is enough */
};

static inline uint64_t fuzz_touch(const uint8_t *data, uint64_t size)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < size; i += 61)
		sum += data[i];
	return size ? sum + data[size - 1] : sum;
}

static inline size_t fuzz_held(const struct devcode_container *container)
{
	return container->held_bytes ? container->held_bytes : (size_t)container->size_bytes;
}

static inline void fuzz_entry(struct fuzz_seen *seen, const struct devcode_container *container,
							  const struct devcode_entry *entry)
{
	struct buf scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD);
	struct devcode_ptx_header header;
	struct ptx_features features;
	struct devcode_view view;

	MUST(range_fits(entry->options_offset, entry->options_length, fuzz_held(container)));
	(void)fuzz_touch(container->bytes + entry->options_offset, entry->options_length);
	(void)devcode_ptx_header(NULL, container, entry, &header);
	if (entry->size_bytes > 1 << 22 || seen->unpacked > 1 << 24)
		return;
	if (!devcode_payload(NULL, container, entry, &scratch, &view)) {
		MUST(!entry->damaged && view.size == entry->size_bytes);
		ptx_count(view.data, view.size, &features);
		(void)fuzz_touch(view.data, view.size);
		seen->unpacked += view.size;
	}
	buf_free(&scratch);
}

static inline void fuzz_container(struct fuzz_seen *seen, const struct devcode_container *container)
{
	seen->containers = container->index ? seen->containers + 1 : 1;
	MUST(container->index == seen->containers - 1);
	(void)fuzz_touch(container->bytes, fuzz_held(container));
	for (size_t i = 0; i < container->entry_count; i++)
		fuzz_entry(seen, container, &container->entries[i]);
}

static inline void fuzz_image(struct fuzz_seen *seen, const struct devcode_image *image)
{
	uint64_t end = 0;

	MUST(image->container_count <= seen->containers || !image->container_count);
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];

		MUST(container->offset >= end);
		MUST(range_fits(container->offset, container->size_bytes, image->size_bytes));
		MUST(container->section == DEVCODE_NO_SECTION || container->section < image->section_count);
		end = container->offset + container->size_bytes;
	}
	seen->containers = 0;
}

static inline void fuzz_found(struct fuzz_seen *seen, int step, const struct code_found *found)
{
	if (step == CODE_CONTAINER)
		fuzz_container(seen, found->container);
	if (step == CODE_IMAGE)
		fuzz_image(seen, found->image);
	MUST(step != CODE_TROUBLE || (found->why.code != JW_OK && found->why.message[0]));
}
