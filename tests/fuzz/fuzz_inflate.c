/* Deflated data, taken and refused as zlib does, with the same bytes. The first byte says in which
 * pieces it is read. */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "devcode/inflate.h"

enum { MOST_INFLATED = 1 << 20 };

static uint8_t ours[MOST_INFLATED], theirs[MOST_INFLATED];

static int inflate_ours(const uint8_t *data, size_t size, size_t step, size_t *ret_made)
{
	struct inflate *inflate;
	size_t got = 0;
	int result;

	if (inflate_open(NULL, &inflate))
		return -1;
	inflate_begin(inflate, data, size);
	*ret_made = 0;
	do {
		const size_t room = MOST_INFLATED - *ret_made;

		result = inflate_read(NULL, inflate, ours + *ret_made, step < room ? step : room, &got);
		*ret_made += result ? 0 : got;
	} while (!result && got);
	if (!result && *ret_made < MOST_INFLATED && inflate_taken(inflate) > size)
		abort();
	inflate_close(inflate);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t step = size && *data ? *data * (size_t)521 : MOST_INFLATED;
	z_stream z = {0};
	size_t made = 0;
	int result, state;

	if (!size)
		return 0;
	result = inflate_ours(data + 1, size - 1, step, &made);
	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return 0;
	z.next_in = (Bytef *)(uintptr_t)(data + 1);
	z.avail_in = (uInt)(size - 1);
	z.next_out = theirs;
	z.avail_out = MOST_INFLATED;
	state = inflate(&z, Z_FINISH);
	/* A full output ends the comparison: either may have looked further. */
	if (z.avail_out && ((state == Z_STREAM_END) != !result || (!result && made != z.total_out)))
		abort();
	if (memcmp(ours, theirs, made < z.total_out ? made : z.total_out) != 0)
		abort();
	(void)inflateEnd(&z);
	return 0;
}
