/* A pack's trailer is read even if it lies in two blocks of the file. */
#include "folder.h"

#include <string.h>

#include <sodium.h>

#include "pack/format.h"
#include "pack/reader.h"

/* Files are read by the megabyte; the trailer may begin at the end of one block and end in the
 * next. */
TEST(a_trailer_may_lie_in_two_blocks)
{
	char *file = os_join(folder, "pack");

	for (size_t end = 1; end <= PACK_TRAILER_SIZE; end += PACK_TRAILER_SIZE - 1) {
		uint8_t digest[32];
		struct source *source = NULL;
		static uint8_t pack[(1 << 20) + PACK_TRAILER_SIZE];
		const size_t size = (1 << 20) + end, content = size - PACK_TRAILER_SIZE;

		crypto_generichash(digest, sizeof digest, pack, content, NULL, 0);
		pack_trailer(pack + content, digest);
		OK(os_write_atomic(why, file, pack, size));
		OK(source_open(why, file, NULL, &source));
		source_close(source);
		memset(pack + content, 0, PACK_TRAILER_SIZE);
	}
	mem_free(file);
}

RUN_TESTS(make_folder, remove_folder)
