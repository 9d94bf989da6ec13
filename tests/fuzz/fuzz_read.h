/* A file whose bytes are in memory. */
#pragma once

#include "code/code_reader.h"
#include "code/walk.h"
#include "fuzz_devcode.h"

static inline int fuzz_read(const void *data, size_t size)
{
	struct code_reader *reader = code_of_walk("input", walk_of_memory(data, size), NULL);
	struct fuzz_seen seen = {0};
	struct code_found found;
	int step;

	while ((step = code_next(NULL, reader, &found)) > CODE_END)
		fuzz_found(&seen, step, &found);
	code_close(reader);
	return step;
}
