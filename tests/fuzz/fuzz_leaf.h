/* One kind of library read both ways: in memory, and from an archive. */
#pragma once

#include <string.h>

#include "devcode/leaf.h"
#include "fuzz_devcode.h"

struct fuzz_rest {
	const uint8_t *data;
	size_t size;
};

/* In pieces of odd sizes, as decompressors give them. */
static inline int fuzz_take(struct jw_error *err, void *context, uint8_t *to, size_t size,
							size_t *ret_got)
{
	struct fuzz_rest *rest = context;
	size_t got = rest->size < 1001 ? rest->size : 1001;

	(void)err;
	got = got < size ? got : size;
	if (got)
		memcpy(to, rest->data, got);
	rest->data += got;
	rest->size -= got;
	*ret_got = got;
	return 0;
}

static inline int fuzz_leaf(enum kind kind, const uint8_t *data, size_t size)
{
	struct fuzz_seen seen = {0};
	struct devcode_sink sink = fuzz_sink(&seen);
	struct reading reading = {.path = "input", .sink = &sink};
	struct fuzz_rest rest = {data, size};
	struct stream stream;

	stream_of_memory(&stream, data, size, NULL);
	MUST(!leaf_read(NULL, &reading, NULL, kind, &stream));
	seen = (struct fuzz_seen){0};
	stream_of_reader(&stream, fuzz_take, &rest, 1 << 20);
	MUST(!leaf_read(NULL, &reading, "member", kind, &stream));
	stream_free(&stream);
	return 0;
}
