/* Finished lines are translated by a catalogue of formats (cli/translate.h). */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/translate.h"

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
	{"%g to %g s", NULL, "%g~%g S"},
	{"100 %% of %s", NULL, "%s 100 %%"},
	{"a long beginning %s", NULL, "LONG %s"},
	{"a long %s", NULL, "SHORT %s"},
	{"%s: and its end", NULL, "%s END"},
	{"%s: %s to make (%s): %s on one core", NULL, "%2$s %3$s %4$s %1$s"},
	{"%s%zu of %s were moved%s", NULL, "%1$s%3$s: %2$zu MOVED%4$s"},
	{"%s kept%s%s", NULL, "%1$s KEPT%2$s%3$s"},
	{"; at %s", NULL, "; AT %s"},
	{"no command “%s”", NULL, "NOT “%s”"},
	{"%s; see “%s”", NULL, "%s. SEE “%s”"},
	{"one: two; three", NULL, "THREE"},
	{"%s%s%s%s%s%s%s%s: %s a message of many", NULL, "%s%s%s%s%s%s%s%s: %s MANY"},
	{"%s%s%s%s%s%s%s%s; %s a message of more", NULL, "%s%s%s%s%s%s%s%s: %s MORE"},
	{"below %APPDATA%, and so on", NULL, "%APPDATA% BELOW"},
	{"%d%% of %s below %LOCALAPPDATA%", NULL, "%2$s (%LOCALAPPDATA%) %1$d%%"},
};

static struct translator *made;

static int make(void **state)
{
	(void)state;
	return translator_make(NULL, messages, sizeof messages / sizeof *messages, &made);
}

static int unmake(void **state)
{
	(void)state;
	translator_free(made);
	return 0;
}

static void expect(const char *english, const char *wanted)
{
	char *text = translator_line(made, english);

	if (wanted)
		assert_string_equal(text ? text : "(nothing)", wanted);
	else
		assert_null(text);
	mem_free(text);
}

TEST(texts_without_conversions)
{
	assert_string_equal(translator_text(made, "warm"), "WARM");
	assert_string_equal(translator_text(made, "Start again."), "AGAIN.");
	assert_null(translator_text(made, ""));
	assert_null(translator_text(made, "war"));
	assert_null(translator_text(made, "warmer"));
	assert_null(translator_text(made, "not translated"));
	assert_null(translator_text(made, "%llu module"));
	expect("not translated", NULL);
	expect("", NULL);
	expect("   ", NULL);
}

TEST(arguments_move_and_are_translated)
{
	expect("1 module", "MOD 1");
	expect("8 modules", "MOD 8");
	expect("eight modules", NULL);
	expect("5 of 8 modules to compile (3 KB of PTX).", "PTX 3 KB: MOD 8, 5");
	expect("3 of 9 modules evicted", "OUT MOD 9");
	expect("0.5 to 1.9 s", "0.5~1.9 S");
	expect("100 % of 1 module", "MOD 1 100 %");
	expect("a long beginning x", "LONG x");
	expect("a long end", "SHORT end");
	expect("name: and its end", "name END"); /* a conversion at the very beginning */
}

/* Also where a number follows what may be empty. */
TEST(an_indentation_stays)
{
	expect("8 of warm were moved.", "WARM: 8 MOVED.");
	expect("  8 of warm were moved", "  WARM: 8 MOVED");
}

TEST(a_quoted_name_is_left_alone)
{
	expect("cannot open “warm”: Permission denied", "NO “warm”: DENIED");
	/* Nor is a name of conversions one. */
	expect("cannot open “%s%n%9$s”: %d", "NO “%s%n%9$s”: %d");
}

/* What a conversion takes ends with a part of the line, or with its quotation. */
TEST(parts_end)
{
	expect("x: 1 module to make (y): a on one core; x: 2 modules to make (z): b on one core",
		   "MOD 1 y a x; MOD 2 z b x");
	expect("5 modules kept; at warm; at home", "MOD 5 KEPT; AT WARM; AT home");
	expect("no command “x”; see “y”", "NOT “x”. SEE “y”");
	expect("one: two; three; see “y”", "THREE. SEE “y”"); /* a message may have such signs itself */
	expect("  12 modules", "  MOD 12");
	/* Forms of many conversions leave time for others. */
	expect("x: a message of many y, a b c d e f g h i j k l m n o p q r s t u v w x y z; 3 modules",
		   "x: a message of many y, a b c d e f g h i j k l m n o p q r s t u v w x y z; MOD 3");
}

/* No conversion: a name of Windows */
TEST(a_percent_sign_may_be_literal)
{
	assert_string_equal(translator_text(made, "below %APPDATA%, and so on"), "%APPDATA% BELOW");
	expect("below %APPDATA%, and so on", "%APPDATA% BELOW");
	expect("50% of 3 modules below %LOCALAPPDATA%", "MOD 3 (%LOCALAPPDATA%) 50%");
}

TEST(names_are_kept)
{
	struct translator *with_names = NULL;
	static const struct {
		const char *line, *wanted;
	} cases[] = {
		{"warm: and its end", "warm END"},
		{"a long warm", "SHORT warm"},
		{"cannot open “x”: warm", "NO “x”: warm"},
		{"3 modules", "MOD 3"}, /* a name of one word is no part of a message */
		{"/a/b: 3 of 9 modules evicted; x: and its end", "/a/b: 3 of 9 modules evicted; x END"},
		{"/a/b: 3 of 9 modules evicted: and its end", "/a/b: 3 of 9 modules evicted END"},
		{"a long a b", "SHORT a b"},
		{"xa b moved to 캐시", "xa b을(를) 캐시로, 이(가)"},
		{"캐시 3 moved to a b", "캐시 3을 a b(으)로, 이(가)"},
		{"a long \x01"
		 "aa\x02",
		 NULL},
	};

	assert_int_equal(
		translator_make(NULL, messages, sizeof messages / sizeof *messages, &with_names), 0);
	translator_keep(with_names, NULL);
	translator_keep(with_names, "");
	translator_keep(with_names, "  ");
	translator_keep(with_names, "warm");
	translator_keep(with_names, "modules");
	translator_keep(with_names, "a b");
	translator_keep(with_names, "캐시 3");
	translator_keep(with_names, "/a/b: 3 of 9");
	translator_keep(with_names, "/a/b: 3 of 9 modules evicted");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = translator_line(with_names, cases[i].line);

		if (cases[i].wanted)
			assert_string_equal(text ? text : "(nothing)", cases[i].wanted);
		else
			assert_null(text);
		mem_free(text);
	}
	for (unsigned i = 0; i < 1000; i++) {
		char name[32];

		(void)snprintf(name, sizeof name, "name %u", i);
		translator_keep(with_names, name);
	}
	translator_free(with_names);
}

TEST(lines_are_taken_apart)
{
	expect("  warm  ", "  WARM  ");
	expect("/a/b: warm", "/a/b: WARM");
	expect("warm; nothing known; 2 modules", "WARM; nothing known; MOD 2");
	expect("/a/b: /c: unknown, Permission denied", "/a/b: /c: unknown, DENIED");
	expect("  sm_86: 3 of 8 modules evicted", "  sm_86: OUT MOD 8");
	expect("  sm_86: 8 modules to x (y)", "  sm_86: x! MOD 8 (y)");
	expect("1 GB, by default", "1 GB (DEFAULT)");
	expect("nothing; of: this, is. known", NULL);
}

TEST(korean_particles)
{
	expect("모듈 moved to 캐시", "모듈을 캐시로, 이(가)");
	expect("캐시 moved to 모듈", "캐시를 모듈로, 이(가)");
	expect("3 moved to 팩", "3을 팩으로, 이(가)");
	expect("2 moved to 1", "2를 1로, 이(가)");
	expect("0 B moved to 1.07 GB", "0 B를 1.07 GB로, 이(가)");
	expect("팩 (1 KB) moved to 캐시(x)", "팩 (1 KB)을 캐시(x)로, 이(가)");
	expect("WEB moved to ) ", "WEB을(를) ) (으)로, 이(가)");
	expect("driver moved to x", "driver을(를) x(으)로, 이(가)");
}

/* The work for a line has a bound: without one these take longer than anybody waits. */
TEST(hostile_names)
{
	static const char *const pieces[] = {"; : , . ", "to of ", "“", "% ", " of  evicted"};
	enum { SIZE = 16000 };
	char *text = mem_alloc(NULL, SIZE + 1);

	assert_non_null(text);
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		const size_t length = strlen(pieces[i]);

		for (size_t at = 0; at < SIZE; at++)
			text[at] = pieces[i][at % length];
		mem_free(translator_line(made, text));
	}
	mem_free(text);
}

TEST(without_memory)
{
	for (size_t nth = 1; nth < 5; nth++) {
		struct translator *other = NULL;
		int failed;

		mem_fail_after(nth);
		failed = translator_make(NULL, messages, 3, &other);
		if (!failed)
			translator_keep(other, "warm");
		if (!failed)
			mem_free(translator_line(other, "/a: warm"));
		mem_fail_after(0);
		assert_true(failed ? !other : other != NULL);
		assert_true(nth > 2 || failed);
		translator_free(other);
	}
}

RUN_TESTS(make, unmake)
