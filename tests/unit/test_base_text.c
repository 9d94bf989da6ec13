/* Times, sizes, dates and patterns become the right text, and no password or hidden character of a
 * text is printed. */
#include "check.h"

#include "base/text.h"

TEST(spans_share_a_unit_where_they_can)
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

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(text_span(text, cases[i].low, cases[i].high), cases[i].text);
}

TEST(a_time_that_was_set_is_printed_exactly)
{
	static const struct {
		uint64_t ms;
		const char *text;
	} cases[] = {
		{0, "0 s"},
		{1, "1 ms"},
		{250, "250 ms"},
		{1000, "1 s"},
		{1500, "1.5 s"},
		{1001, "1.001 s"},
		{2050, "2.05 s"},
		{5000, "5 s"},
		{59000, "59 s"},
		{60000, "1 min"},
		{90000, "1 min 30 s"},
		{120000, "2 min"},
		{3600000, "1 h"},
		{5400000, "1 h 30 min"},
		{7200000, "2 h"},
	};
	char text[TEXT_SHORT];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(text_set_time(text, cases[i].ms), cases[i].text);
}

TEST(no_measured_time_is_0_seconds)
{
	char text[TEXT_SHORT];

	assert_string_equal(text_duration(text, 0.001), "under 0.1 s");
	assert_string_equal(text_duration(text, 0.06), "0.1 s");
	assert_string_equal(text_duration(text, 0), "0.0 s");
}

TEST(sizes_have_one_unit)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0 B"},
		{1, "1 B"},
		{1023, "1023 B"},
		{1024, "1 KiB"},
		{3277, "3.2 KiB"},
		{(1 << 20) - 1, "1.0 MiB"},
		{561152, "548 KiB"},
		{1 << 30, "1 GiB"},
		{(1 << 30) + (107 << 20), "1.10 GiB"},
		{1ULL << 32, "4 GiB"},
		{UINT64_MAX, "16 EiB"},
	};
	char text[TEXT_SHORT];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(text_bytes(text, cases[i].bytes), cases[i].text);
}

TEST(forms_are_of_the_whole_text)
{
	static const struct {
		const char *text, *form;
		bool has;
	} cases[] = {
		{"ledger-0af9", "ledger-%", true},
		{"ledger-", "ledger-%", false},
		{"ledger-0AF9", "ledger-%", false},
		{"ledger-0af9 ", "ledger-%", false},
		{"12-345", "#-#", true},
		{"12-", "#-#", false},
		{"12-345.lock", "#-#", false},
		{"a-1", "#-#", false},
		{"new.ab01z9", "new.??????", true},
		{"new.ab01z", "new.??????", false},
		{"new.ab01z9x", "new.??????", false},
		{"new.ab01zZ", "new.??????", false},
		{"a.pub", "*.pub", true},
		{".pub", "*.pub", false},
		{"a.public", "*.pub", false},
		{"a.pub.abcdef", "*.pub.??????", true},
		{"", "", true},
		{"x", "", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (text_has_form(cases[i].text, cases[i].form) != cases[i].has)
			fail_msg("%s, %s", cases[i].text, cases[i].form);
}

TEST(dates_are_of_the_calendar)
{
	static const struct {
		int64_t since_1970_s;
		const char *text;
	} dates[] = {
		{0, "1970-01-01T00:00:00Z"},          {951782399, "2000-02-28T23:59:59Z"},
		{951782400, "2000-02-29T00:00:00Z"},  {951868800, "2000-03-01T00:00:00Z"},
		{1795342501, "2026-11-22T10:15:01Z"}, {4107542399, "2100-02-28T23:59:59Z"},
		{4107542400, "2100-03-01T00:00:00Z"},
	};
	char text[TEXT_UTC];

	for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
		assert_string_equal(text_utc(text, dates[i].since_1970_s), dates[i].text);
}

TEST(what_is_not_for_eyes_is_hidden)
{
	static const struct {
		uint32_t first, last; /* and the characters beside the range are not hidden */
	} hidden[] = {
		{0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},   {0x2028, 0x202e},
		{0x2060, 0x206f}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xe0000, 0xe0fff},
	};

	for (uint32_t point = 0; point < 0x20; point++)
		assert_true(text_is_hidden(point));
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
		assert_false(text_is_hidden(hidden[i].first - 1));
		assert_false(text_is_hidden(hidden[i].last + 1));
		for (uint32_t point = hidden[i].first; point <= hidden[i].last; point++)
			assert_true(text_is_hidden(point));
	}
	assert_false(text_is_hidden(0xac00));
	assert_false(text_is_hidden(0x10ffff));
}

RUN_TESTS(NULL, NULL)
