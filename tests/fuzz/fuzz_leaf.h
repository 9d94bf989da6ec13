/* Reads one kind of library both ways: in memory, and from an archive. */
#pragma once

#include <string.h>

#include "code/code_reader.h"
#include "fuzz_devcode.h"

struct fuzz_rest {
	const uint8_t *data;
	size_t size;
};

/* Returns the bytes in pieces of odd sizes, as decompressors do. */
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

static inline void fuzz_steps(enum kind kind, const char *member, struct stream *stream)
{
	struct fuzz_seen seen = {0};
	atomic_uint_least64_t again_bytes = 0;
	struct jw_error why = {0};
	struct code_found found;
	struct leaf leaf;
	int step;

	leaf_open(&leaf, (struct origin){"input", member, NULL, &again_bytes}, kind, stream);
	while ((step = leaf_next(&why, &leaf, &found)) > CODE_END)
		fuzz_found(&seen, step, &found);
	MUST(step == CODE_END || (why.code != JW_OK && why.message[0]));
	leaf_close(&leaf);
}

static inline int fuzz_leaf(enum kind kind, const uint8_t *data, size_t size)
{
	struct fuzz_rest rest = {data, size};
	struct stream stream;

	stream_of_memory(&stream, data, size, NULL);
	fuzz_steps(kind, NULL, &stream);
	stream_of_reader(&stream, fuzz_take, &rest, 1 << 20);
	fuzz_steps(kind, "member", &stream);
	stream_free(&stream);
	return 0;
}
