/* Containers: reading one at once and piece by piece gives the same result. */
#include "code/container.h"
#include "fuzz_read.h"

/* Walks through the container with no more bytes at a time than the walk requests, and returns its
 * result. */
static enum container_state feed(const uint8_t *data, size_t size, uint64_t *ret_size)
{
	struct container_walk walk = {.needed = 0};
	enum container_state state = CONTAINER_MORE;
	uint64_t have = 0;

	while (state == CONTAINER_MORE) {
		state = container_check(&walk, data, have, size);
		if (state == CONTAINER_MORE) {
			MUST(walk.needed > have && walk.needed <= size);
			have = walk.needed;
		}
	}
	*ret_size = walk.size_bytes;
	return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container_walk walk = {0};
	enum container_state state = container_check(&walk, data, size, size);
	uint64_t fed;

	MUST(state != CONTAINER_MORE);
	MUST(feed(data, size, &fed) == state);
	MUST(state != CONTAINER_SOUND || (fed == walk.size_bytes && fed <= size));
	MUST(!fuzz_read(data, size));
	return 0;
}
