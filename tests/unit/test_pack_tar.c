/* Headers of members: only a header exactly as jitwarm writes it is accepted. */
#include "check.h"

#include "pack/pack_tar.h"

TEST(only_our_header_is_taken)
{
	static const uint64_t sizes[] = {0, 1, 511, 512, 1 << 20, (UINT64_C(1) << 33) - 1};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint8_t header[TAR_BLOCK];
		uint64_t size = 7;

		tar_header(header, "ptx/name", sizes[i]);
		assert_false(tar_read(header, "ptx/nam", &size));
		assert_false(tar_read(header, "ptx/names", &size));
		for (size_t at = 0; at < TAR_BLOCK; at++) {
			header[at] ^= 1;
			assert_false(tar_read(header, "ptx/name", &size));
			header[at] ^= 1 ^ 8; /* not a digit, in the place of a digit */
			assert_false(tar_read(header, "ptx/name", &size));
			header[at] ^= 8;
		}
		assert_int_equal(size, 7);
		assert_true(tar_read(header, "ptx/name", &size));
		assert_int_equal(size, sizes[i]);
		assert_int_equal(tar_extent(size) % TAR_BLOCK, 0);
		assert_true(tar_extent(size) - size >= TAR_BLOCK &&
					tar_extent(size) - size < 2 * TAR_BLOCK);
	}
}

RUN_TESTS(NULL, NULL)
