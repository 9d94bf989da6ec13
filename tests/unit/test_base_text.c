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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(spans_share_a_unit_where_they_can)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
