/* UTF-8 is read back as it was written, and invalid code points become the replacement character.
 * */
#include "check.h"

#include "base/text.h"

TEST(invalid_code_points_become_the_replacement_character)
{
	static const uint32_t cases[] = {0xd800, 0xdfff, 0x110000, UINT32_MAX};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char utf8[4];

		assert_int_equal(text_utf8_put(cases[i], utf8), 3);
		assert_memory_equal(utf8, "\xef\xbf\xbd", 3);
	}
}

RUN_TESTS(NULL, NULL)
