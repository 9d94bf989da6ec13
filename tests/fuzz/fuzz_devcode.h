/* A sink that reads everything it gets, and checks what devcode.h promises. */
#pragma once

#include "base/cursor.h"
#include "devcode/devcode.h"
#include "devcode/ptx.h"
#include "fuzz.h"

struct fuzz_seen {
	size_t containers; /* of the current image */
	uint64_t unpacked; /* bytes so far: one decompression bomb is enough */
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
	struct buf scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD);
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

static inline int fuzz_container(struct jw_error *err, void *context,
								 const struct devcode_container *container)
{
	struct fuzz_seen *seen = context;

	(void)err;
	seen->containers = container->index ? seen->containers + 1 : 1;
	MUST(container->index == seen->containers - 1);
	(void)fuzz_touch(container->bytes, fuzz_held(container));
	for (size_t i = 0; i < container->entry_count; i++)
		fuzz_entry(seen, container, &container->entries[i]);
	return 0;
}

static inline int fuzz_image(struct jw_error *err, void *context, const struct devcode_image *image)
{
	struct fuzz_seen *seen = context;
	uint64_t end = 0;

	(void)err;
	MUST(image->container_count <= seen->containers || !image->container_count);
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];

		MUST(container->offset >= end);
		MUST(range_fits(container->offset, container->size_bytes, image->size_bytes));
		MUST(container->section == DEVCODE_NO_SECTION || container->section < image->section_count);
		end = container->offset + container->size_bytes;
	}
	seen->containers = 0;
	return 0;
}

static inline void fuzz_trouble(void *context, const char *path, const char *member,
								const struct jw_error *why)
{
	(void)context;
	(void)member;
	MUST(path && why->code != JW_OK && why->message[0]);
}

static inline struct devcode_sink fuzz_sink(struct fuzz_seen *seen)
{
	return (struct devcode_sink){seen, fuzz_container, fuzz_image, fuzz_trouble, {0}};
}
