/* Texts are translated when they are made, by their formats (cli/language.h). */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/language.h"
#include "driver/protocol.h"

static const struct message messages[] = {
	{"", NULL, "a head"},
	{"warm", NULL, "WARM"},
	{"Start again.", NULL, "AGAIN."},
	{"not translated", NULL, ""},
	{", by default", NULL, " (DEFAULT)"},
	{"%s moved to %s", NULL, "%s을(를) %s(으)로, 이(가)"},
	{"%s%s to %s (%s)", NULL, "%1$s%3$s! %2$s (%4$s)"},
	{"%llu module", "%llu modules", "MOD %llu"},
	{"%zu of %s to compile (%s of PTX).", NULL, "PTX %3$s: %2$s, %1$zu"},
	{"%s of %s evicted", NULL, "OUT %2$s%1$.0s"},
	{"cannot open “%.100s”: %s", NULL, "NO “%s”: %s"},
	{"Permission denied", NULL, "DENIED"},
	{"100 %% of %s", NULL, "%s 100 %%"},
	{"%s: and its end", NULL, "%s END"},
	{"%.*s: and its end", NULL, "%s END"},
	{"%d %c %5.1f %x %lu %lld %*d|", NULL, "%7$d %6$lld %5$lu %4$x %3$f %2$c %1$d"},
	{"below %APPDATA%, and so on", NULL, "%APPDATA% BELOW"},
	{"%d%% of %s below %LOCALAPPDATA%", NULL, "%2$s (%LOCALAPPDATA%) %1$d%%"},
};

static int make(void **state)
{
	(void)state;
	language_use(messages, sizeof messages / sizeof *messages);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	language_close();
	return 0;
}

static void expect(const char *english, const char *wanted)
{
	char *text = keep(language_line(english));

	if (wanted)
		assert_string_equal(text ? text : "(nothing)", wanted);
	else
		assert_null(text);
}

#define EXPECT_MADE(wanted, ...)                                                                   \
	do {                                                                                           \
		char made[600];                                                                            \
		(void)text_format(made, sizeof made, __VA_ARGS__);                                         \
		expect(made, wanted);                                                                      \
	} while (0)

TEST(texts_without_conversions)
{
	assert_string_equal(language_text("warm"), "WARM");
	assert_string_equal(language_text("war"), "war");
	assert_string_equal(language_text("warmer"), "warmer");
	assert_string_equal(language_text("not translated"), "not translated");
	expect("warm", "WARM");
	expect("not translated", NULL);
	expect("", NULL);
	/* The format itself was not printed. */
	expect("%llu module", NULL);
	expect("100 %% of %s", NULL);
}

TEST(arguments_move_and_are_translated)
{
	char many[TEXT_COUNTED], more[TEXT_COUNTED];

	assert_string_equal(text_count(many, 8, "module", "modules"), "8 modules");
	expect("8 modules", "MOD 8");
	(void)text_count(more, 9, "module", "modules");
	expect(text_count(many, 1, "module", "modules"), "MOD 1");
	expect(text_count(many, 2, "thing", "things"), NULL);
	EXPECT_MADE("PTX 3 KB: MOD 9, 5", "%zu of %s to compile (%s of PTX).", (size_t)5, more, "3 KB");
	EXPECT_MADE("OUT MOD 9", "%s of %s evicted", "3", more);
	EXPECT_MADE("MOD 9 100 %", "100 %% of %s", more);
	EXPECT_MADE("WARM END", "%s: and its end", "warm");
	EXPECT_MADE("-1 -9223372036854775807 4000000000 ff   2.5 x 7", "%d %c %5.1f %x %lu %lld %*d|",
				7, 'x', 2.5, 255U, 4000000000UL, -9223372036854775807LL, 2, -1);
	/* A format that the catalogue lacks keeps its own words. */
	EXPECT_MADE("  WARM; then MOD 9", "  %s; then %s", "warm", more);
	EXPECT_MADE(NULL, "nothing of ours: %s", "cold");
	/* A sentence that was not made by a format is unknown, whatever it looks like. */
	expect("7 of 9 modules evicted", NULL);
}

TEST(names_stay)
{
	EXPECT_MADE("NO “warm”: DENIED", "cannot open “%.100s”: %s", "warm", "Permission denied");
	EXPECT_MADE("NO “%s%n%9$s”: %d", "cannot open “%.100s”: %s", "%s%n%9$s", "%d");
	EXPECT_MADE(NULL, "%s/%s", "warm", "warm");
	EXPECT_MADE(NULL, "'%s'", "warm");
	language_keep("Start again.");
	language_keep("a file: and its end");
	language_keep(NULL);
	EXPECT_MADE("Start again. END", "%s: and its end", "Start again.");
	EXPECT_MADE(NULL, "%s: and its end", "a file");
	expect("Start again.", NULL);
	assert_string_equal(language_text("Start again."), "AGAIN.");
}

/* With a precision, a text need not have a terminating NUL. */
TEST(widths)
{
	const char endless[] = {'w', 'a', 'r', 'm'};

	EXPECT_MADE("WARM END", "%.*s: and its end", 4, endless);
	EXPECT_MADE("x WARM", "x %.4s", endless);
	EXPECT_MADE("WARM      | WARM", "%-10s| %5s", "warm", "warm");
	EXPECT_MADE("NO “cold”: DEN", "cannot open “%.100s”: %s", "cold", "DEN");
}

TEST(pieces_are_joined)
{
	char text[100] = "";
	struct buf buf = BUF_MAX(1000);

	text_append(text, sizeof text, "%s: and its end", "x");
	text_append(text, sizeof text, "; ");
	text_append(text, sizeof text, "%s", "warm");
	assert_string_equal(text, "x: and its end; warm");
	expect(text, "x END; WARM");
	OK(buf_printf(why, &buf, "1 GB"));
	OK(buf_printf(why, &buf, ", by default"));
	expect(buf_text(&buf), "1 GB (DEFAULT)");
	/* Lines are printed one by one. */
	buf_clear(&buf);
	OK(buf_printf(why, &buf, "%s: and its end\n", "y"));
	expect("y: and its end", "y END");
	buf_free(&buf);
}

/* This is no conversion: a name of Windows. */
TEST(a_percent_sign_may_be_literal)
{
	assert_string_equal(language_text("below %APPDATA%, and so on"), "%APPDATA% BELOW");
	expect("below %APPDATA%, and so on", "%APPDATA% BELOW");
}

TEST(errors_and_what_other_processes_say)
{
	struct protocol_answer answer = {.result = -1}, got;
	struct buf line = BUF_MAX(1 << 16);

	error_set(why, JW_ERR_IO, "%s", "Permission denied");
	error_prefix(why, "%s", "/a/b");
	assert_string_equal(why->message, "/a/b: Permission denied");
	expect(why->message, "/a/b: DENIED");
	/* Another process made the text. */
	TEXT_COPY(answer.error, why->message);
	OK(protocol_put_answer(why, &line, &answer));
	language_use(messages, sizeof messages / sizeof *messages);
	expect(why->message, NULL);
	OK(protocol_get_answer(why, buf_text(&line), line.size - 1, &got));
	assert_string_equal(got.error, why->message);
	expect(why->message, "/a/b: DENIED");
	buf_free(&line);
	text_language->learn("of a worker", "ITS");
	text_language->learn("/a/b: Permission denied", "A LIE");
	EXPECT_MADE("ITS END", "%s: and its end", "of a worker");
	expect(why->message, "/a/b: DENIED");
}

TEST(korean_particles)
{
	static const char *const cases[][3] = {
		{"모듈", "캐시", "모듈을 캐시로, 이(가)"},
		{"캐시", "모듈", "캐시를 모듈로, 이(가)"},
		{"3", "팩", "3을 팩으로, 이(가)"},
		{"2", "1", "2를 1로, 이(가)"},
		{"0 B", "1.07 GiB", "0 B를 1.07 GiB로, 이(가)"},
		{"팩 (1 KB)", "캐시(x)", "팩 (1 KB)을 캐시(x)로, 이(가)"},
		{"WEB", ") ", "WEB을(를) ) (으)로, 이(가)"},
		{"driver", "x", "driver을(를) x(으)로, 이(가)"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		EXPECT_MADE(cases[i][2], "%s moved to %s", cases[i][0], cases[i][1]);
}

/* Without a bound a watch of days would fill the memory. */
TEST(old_texts_are_forgotten)
{
	enum { MANY = 70000 };

	EXPECT_MADE("first END", "%s: and its end", "first");
	for (unsigned i = 0; i < MANY; i++) {
		char text[TEXT_SHORT];

		(void)text_format(text, sizeof text, "%u %s", i, "warm");
	}
	expect("first: and its end", NULL);
	expect("69999 warm", "69999 WARM");
	expect("warm", "WARM");
}

RUN_TESTS(make, unmake)
