/* A pack's trailer is read even if it lies in two blocks of the file, and what the first reading
 * has checked is all that counts. */
#include "folder.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "pack/format.h"
#include "pack/reader.h"

/* Files are read by the megabyte; the trailer may begin at the end of one block and end in the
 * next. */
TEST(a_trailer_may_lie_in_two_blocks)
{
	char *file = keep(os_join(folder, "pack"));

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
}

TEST(a_pack_that_changes_between_its_two_readings_is_refused)
{
	char *file = keep(os_join(folder, "pack"));
	uint8_t pack[100 + PACK_TRAILER_SIZE] = {0}, digest[32];
	struct pack_manifest manifest;
	struct source *source;
	struct reader *reader;
	FILE *other;

	crypto_generichash(digest, sizeof digest, pack, 100, NULL, 0);
	pack_trailer(pack + 100, digest);
	OK(os_write_atomic(why, file, pack, sizeof pack));
	OK(source_open(why, file, NULL, &source));
	other = fopen(file, "r+b");
	assert_non_null(other);
	assert_int_equal(fputc('x', other), 'x');
	assert_int_equal(fclose(other), 0);
	GIVES(JW_ERR_FORMAT, reader_open(why, source, &manifest, &reader));
	assert_non_null(strstr(why->message, "was changed while it was read"));
	source_close(source);
}

RUN_TESTS(make_folder, remove_folder)
