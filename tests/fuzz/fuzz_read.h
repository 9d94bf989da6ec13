/* devcode_read of bytes that are in memory. */
#pragma once

#include "devcode/leaf.h"
#include "devcode/walk.h"
#include "fuzz_devcode.h"

static inline void fuzz_read_trouble(void *context, const char *member, const struct jw_error *why)
{
	const struct reading *reading = context;

	reading->sink->trouble(reading->sink->context, reading->path, member, why);
}

static inline int fuzz_read(const void *data, size_t size)
{
	struct fuzz_seen seen = {0};
	const struct devcode_sink sink = fuzz_sink(&seen);
	struct reading reading = {.path = "input", .sink = &sink};
	const struct visitor visitor = {&reading, leaf_read, fuzz_read_trouble, &sink.cancel, NULL};
	struct stream stream;

	stream_of_memory(&stream, data, size, NULL);
	return walk_stream(NULL, &visitor, NULL, &stream, 0);
}
