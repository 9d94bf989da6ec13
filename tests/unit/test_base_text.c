#include "check.h"

#include "base/text.h"

static void spans_share_a_unit_where_they_can(void **state)
{
	static const struct {
		double low, high;
		const char *text;
	} cases[] = {
		{0, 0, "under 0.1 s"},         {-1, 0.3, "up to 0.3 s"},
		{0.41, 0.42, "about 0.4 s"},   {1.94, 2.2, "1.9 to 2 s"},
		{4.6, 5.4, "about 5 s"},       {35, 50, "35 to 50 s"},
		{50, 130, "50 s to 2 min"},    {120, 190, "2 to 3 min"},
		{130, 140, "about 2 min"},     {3000, 9000, "50 min to 2.5 h"},
		{7200, 14400, "2.0 to 4.0 h"}, {1e9, 1e9, "about 277777.8 h"},
	};
	char text[TEXT_SHORT];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(text_span(text, cases[i].low, cases[i].high), cases[i].text);
}

static void no_password_is_said(void **state)
{
	static const char *const pairs[][2] = {
		{"https://host/path", "https://host/path"},
		{"https://host/p@th", "https://host/p@th"},
		{"https://ann:secret@host/path", "https://host/path"},
		{"https://secret@host:5000/path?sig=secret", "https://host:5000/path"},
		{"https://ann:sec/ret@host/path#secret", "https://host/path"},
		{"https://ann:s@cret@host", "https://host"},
		{"ftp://:secret@", "ftp://"},
		{"s3://bucket/a@b", "s3://bucket/a@b"},
		{"ann:secret@host", "host"},
		{"", ""},
	};
	char room[64];

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		assert_string_equal(text_address(room, sizeof room, pairs[i][0]), pairs[i][1]);
	assert_string_equal(text_address(room, 4, "https://ann:secret@host"), "htt");
	assert_string_equal(text_address(room, 11, "https://ann:secret@host"), "https://ho");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(spans_share_a_unit_where_they_can),
									   cmocka_unit_test(no_password_is_said)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
