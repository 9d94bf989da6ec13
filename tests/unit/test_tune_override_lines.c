/* Lines that set a variable are commented out, and restored to the byte. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/tune.h>

#include "tune/override_lines.h"

static const char name[] = "CUDA_CACHE_MAXSIZE";

static void a_whole_line_is_commented_out_and_restored(void **state)
{
	static const char *const lines[] = {
		"export CUDA_CACHE_MAXSIZE=1000",   "  export CUDA_CACHE_MAXSIZE='1 0'  # small",
		"CUDA_CACHE_MAXSIZE=\"$SIZE\";",    "set -gx CUDA_CACHE_MAXSIZE 1000",
		"setenv CUDA_CACHE_MAXSIZE 1000\r", "\tunset CUDA_CACHE_MAXSIZE",
		"declare -x CUDA_CACHE_MAXSIZE=",
	};
	static const char *const ends[] = {"", "\n", "\nfi\n", "\r\n\xff"};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines * 4; i++) {
		char text[200];
		struct buf without, again;
		bool there;

		(void)snprintf(text, sizeof text, "if true; then\n%s%s", lines[i / 4], ends[i % 4]);
		assert_int_equal(override_comment(NULL, text, strlen(text), 2, name, i & 1, &without), 0);
		assert_non_null(strstr(buf_text(&without), "# jitwarm tune removed # "));
		assert_int_equal(override_restore(NULL, buf_text(&without), without.size, &again, &there),
						 0);
		assert_true(there);
		assert_int_equal(again.size, strlen(text));
		assert_memory_equal(buf_text(&again), text, again.size);
		buf_free(&without);
		buf_free(&again);
	}
}

static void a_line_that_does_more_stays(void **state)
{
	static const char *const texts[] = {
		"export CUDA_CACHE_MAXSIZE=1 OTHER=2\n",  "export OTHER=2 CUDA_CACHE_MAXSIZE=1\n",
		"CUDA_CACHE_MAXSIZE=1 python x.py\n",     "export CUDA_CACHE_MAXSIZE=1; other\n",
		"export CUDA_CACHE_MAXSIZE=1 \\\n",       "export CUDA_CACHE_MAXSIZE=$(size)\n",
		"export CUDA_CACHE_MAXSIZE='1\n",         "export CUDA_CACHE_MAXSIZES=1\n",
		"if a; then CUDA_CACHE_MAXSIZE=1; fi\n",  "export CUDA_CACHE_MAXSIZE=1 && other\n",
		"export CUDA_CACHE_MAXSIZE=\"`size`\"\n", "# export CUDA_CACHE_MAXSIZE=1\n",
	};
	struct buf without;
	bool there;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_int_equal(
			override_comment(NULL, texts[i], strlen(texts[i]), 1, name, false, &without), 0);
		assert_int_equal(without.size, 0);
	}
	assert_int_equal(override_comment(NULL, "export A=1 \\\nCUDA_CACHE_MAXSIZE=1\n", 34, 2, name,
									  false, &without),
					 0);
	assert_int_equal(without.size, 0);
	assert_int_equal(override_comment(NULL, "x\n", 2, 7, name, false, &without), 0);
	assert_int_equal(without.size, 0);
	assert_int_equal(override_restore(NULL, "a # jitwarm tune removed # b\n", 29, &without, &there),
					 0);
	assert_false(there);
	buf_free(&without);
}

/* Lines in which nothing but the variable is set, in each shell's words, and others. */
static void each_word_counts(void **state)
{
	static const char *const verbs[] = {
		"",        "export ",  "declare -x\t", "declare -gx ", "typeset -x \t ", "typeset -gx ",
		"setenv ", "set -gx ", "set -x ",      "set -Ux ",     "unset ",         "unsetenv ",
		"set -e "};
	static const struct {
		const char *rest;
		bool whole;
	} rests[] = {
		{"", true},           {";", true},        {" ; ", true},       {"; # a", true},
		{" 1", true},         {"\t1\r", true},    {"=1", true},        {"=", true},
		{"=\"a\" # b", true}, {"='a';", true},    {"='a' ;\t#", true}, {"\r", true},
		{"=a#", true},        {"&", false},       {"=1;;", false},     {"=1 2", false},
		{"=\"a\\b\"", false}, {"='a\\b'", false}, {"='`'", false},     {"='a'b", false},
		{"=a\\b", false},     {"=1|2", false},    {"=1<2", false},     {"=1>2", false},
		{"=a`b`", false},     {"=a(b", false},    {"=a)b", false},     {"=a\"b\"", false},
		{"=a'b'", false},     {"S", false},       {"=1&", false},      {"=\"a", false},
	};
	struct buf without;

	(void)state;
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		for (size_t j = 0; j < sizeof rests / sizeof *rests; j++) {
			char line[100];

			(void)snprintf(line, sizeof line, "%s%s%s", verbs[i], name, rests[j].rest);
			assert_int_equal(override_comment(NULL, line, strlen(line), 1, name, false, &without),
							 0);
			if ((without.size > 0) != rests[j].whole)
				fail_msg("%s", line);
			buf_free(&without);
		}
	assert_int_equal(
		override_comment(NULL, "exportCUDA_CACHE_MAXSIZE=1", 26, 1, name, false, &without), 0);
	assert_int_equal(without.size, 0);
}

static void a_line_is_found_by_its_number(void **state)
{
	/* The byte before a text is none of its own. */
	static const char text[] = "\\\nunset CUDA_CACHE_MAXSIZE\n\nunset CUDA_CACHE_MAXSIZE",
					  cut[] = "unset CUDA_CACHE_MAXSIZE\0a\n";
	static const struct {
		size_t skip, line, at; /* SIZE_MAX: it stays */
	} cases[] = {
		{0, 1, SIZE_MAX}, {0, 2, SIZE_MAX}, {1, 2, 1},        {2, 1, 0},        {2, 3, 26},
		{2, 2, SIZE_MAX}, {2, 4, SIZE_MAX}, {2, 5, SIZE_MAX}, {1, 1, SIZE_MAX}, {1, 4, 27},
	};
	struct buf without;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *from = text + cases[i].skip;

		assert_int_equal(
			override_comment(NULL, from, strlen(from), cases[i].line, name, true, &without), 0);
		assert_int_equal(without.size > 0, cases[i].at != SIZE_MAX);
		if (without.size)
			assert_memory_equal(without.data + cases[i].at, "# jitwarm tune removed # unset", 30);
		buf_free(&without);
	}
	assert_int_equal(override_comment(NULL, cut, sizeof cut - 1, 1, name, false, &without), 0);
	assert_int_equal(without.size, 0);
}

/* A line of 4,095 bytes at most, a file of a megabyte. */
static void long_ones_stay(void **state)
{
	static char text[(1 << 20) + 1];
	struct jw_error err = {0};
	struct buf without;
	bool there;

	(void)state;
	memset(text, ' ', sizeof text);
	memcpy(text, "unset CUDA_CACHE_MAXSIZE", 24);
	text[25] = '#';
	for (size_t size = 4094; size < 4098; size++) {
		assert_int_equal(override_comment(NULL, text, size, 1, name, false, &without), 0);
		assert_int_equal(without.size > 0, size < 4096);
		buf_free(&without);
	}
	text[30] = '\n';
	assert_int_equal(override_comment(&err, text, (1 << 20) - 5, 1, name, false, &without), -1);
	assert_int_equal(err.code, JW_ERR_LIMIT);
	err = (struct jw_error){0};
	assert_int_equal(override_restore(&err, text, 1 << 20, &without, &there), 0);
	assert_int_equal(without.size, 1 << 20);
	buf_free(&without);
	assert_int_equal(override_restore(&err, text, (1 << 20) + 1, &without, &there), -1);
	assert_int_equal(err.code, JW_ERR_LIMIT);
}

/* Our words alone, without a line behind them; half of them are none. */
static void our_words_end_the_text(void **state)
{
	static const struct {
		const char *text;
		bool there;
	} cases[] = {
		{"# jitwarm tune removed # ", true},      {": # jitwarm tune removed # ", true},
		{"# jitwarm tune removed #", false},      {": # jitwarm tune removed #", false},
		{";  # jitwarm tune removed # ", false},  {": # jitwarm tune removed : ", false},
		{"a\n: # jitwarm tune removed # ", true}, {"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *text = cases[i].text;
		struct buf again;
		bool there;

		assert_int_equal(override_restore(NULL, text, strlen(text), &again, &there), 0);
		assert_int_equal(there, cases[i].there);
		assert_string_equal(buf_text(&again), !there ? text : *text == 'a' ? "a\n" : "");
		buf_free(&again);
	}
}

/* What tune may comment out by itself: a line of an account's own profile that jitwarm did not
 * write. */
static void only_an_own_profiles_line_is_removable(void **state)
{
	static char home[] = "/home/x/.bashrc", machine[] = "/etc/profile";
	const struct {
		struct jw_setting setting;
		bool removable;
	} cases[] = {
		{{.source = "shell profile", .where = home, .line = 3}, true},
		{{.source = "shell profile", .where = machine, .line = 3}, false},
		{{.source = "shell profile", .where = home, .line = 0}, false},
		{{.source = "shell profile", .where = home, .line = 3, .ours = true}, false},
		{{.source = "environment.d", .where = home, .line = 3}, false},
	};

	(void)state;
#ifdef _WIN32
	skip(); /* no shell profiles */
#endif
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(jw_tune_is_removable(&cases[i].setting), cases[i].removable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_line_is_commented_out_and_restored),
		cmocka_unit_test(a_line_that_does_more_stays),
		cmocka_unit_test(each_word_counts),
		cmocka_unit_test(a_line_is_found_by_its_number),
		cmocka_unit_test(long_ones_stay),
		cmocka_unit_test(our_words_end_the_text),
		cmocka_unit_test(only_an_own_profiles_line_is_removable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
