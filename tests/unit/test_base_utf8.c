/* UTF-8, written and read back. */
#include "check.h"

#include <string.h>

#include "base/text.h"

TEST(a_code_point_is_written_and_read_back)
{
	static const struct {
		uint32_t point;
		const char *utf8;
	} cases[] = {
		{0x41, "A"},
		{0x7f, "\x7f"},
		{0x80, "\xc2\x80"},
		{0x7ff, "\xdf\xbf"},
		{0x800, "\xe0\xa0\x80"},
		{0xac00, "가"},
		{0xffff, "\xef\xbf\xbf"},
		{0x10000, "\xf0\x90\x80\x80"},
		{0x10ffff, "\xf4\x8f\xbf\xbf"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char utf8[4];
		uint32_t point = 0;
		size_t length = text_utf8_put(cases[i].point, utf8);

		assert_int_equal(length, strlen(cases[i].utf8));
		assert_memory_equal(utf8, cases[i].utf8, length);
		assert_int_equal(text_utf8_next(utf8, length, &point), length);
		assert_int_equal(point, cases[i].point);
	}
}

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
