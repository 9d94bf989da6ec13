/* Which variables profiles, lists and units set. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/tune.h>

#include "base/buf.h"
#include "setup/assign.h"
#include "setup/setting_places.h"

static int take(struct jw_error *err, void *context, const struct assign *assign)
{
	return buf_printf(err, context, "%zu%s%s=%s|", assign->line, assign->unset ? "!" : ":",
					  assign->name + strlen("CUDA_"), assign->value);
}

static void check(enum assign_form form, const char *text, size_t size, const char *wanted)
{
	/* What is behind the end counts for nothing. */
	static const char *const behind[] = {"", " ", "\t", "\n", "=1", "\"", "'", "\\", "x", ";", "#"};

	for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
		struct buf found = BUF_MAX(1 << 16), whole = BUF_MAX(1 << 16);

		OK(buf_append(why, &whole, text, size));
		OK(buf_printf(why, &whole, "%s", behind[i]));
		OK(assign_parse(why, form, buf_text(&whole), size, take, &found));
		assert_string_equal(buf_text(&found), wanted);
		buf_free(&found);
		buf_free(&whole);
	}
}

TEST(shells)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"export CUDA_CACHE_MAXSIZE=1G\n", "1:CACHE_MAXSIZE=1G|"},
		{"\n# export CUDA_CACHE_MAXSIZE=1\nexport PATH=$PATH", ""},
		{"export A=1 CUDA_CACHE_PATH=\"/a b\" B", "1:CACHE_PATH=/a b|"},
		{"CUDA_CACHE_PATH='/x'; export CUDA_CACHE_PATH", "1:CACHE_PATH=/x|"},
		{"CUDA_CACHE_DISABLE=1 python train.py\n", ""},
		{"if true; then export CUDA_CACHE_DISABLE=1; fi", "1:CACHE_DISABLE=1|"},
		{"a\\\nb\nsetenv CUDA_CACHE_MAXSIZE 5", "3:CACHE_MAXSIZE=5|"},
		{"set -gx CUDA_CACHE_PATH $HOME/c\nset -e CUDA_CACHE_DISABLE",
		 "1:CACHE_PATH=$HOME/c|2!CACHE_DISABLE=|"},
		{"unset X CUDA_FORCE_PTX_JIT", "1!FORCE_PTX_JIT=|"},
		{"declare -x CUDA_CACHE_DIR=/x # note", "1:CACHE_DIR=/x|"},
		{"echo CUDA_CACHE_PATH=/x", ""},
		{"export CUDA_CACHE_MAXSIZE=", "1:CACHE_MAXSIZE=|"},
		{"export 'CUDA_CACHE_MAXSIZE=1", "1:CACHE_MAXSIZE=1|"},
		{"set -e\nexport CUDA_CACHE_MAX_SIZE=1\\", "2:CACHE_MAX_SIZE=1\\|"},
		{"[ -n \"$X\" ] && export CUDA_CACHE_MAXSIZE=7", "1:CACHE_MAXSIZE=7|"},
		/* quotes, escapes, lines */
		{"export CUDA_CACHE_PATH=\"/a\\\"b\\c\"", "1:CACHE_PATH=/a\"bc|"},
		{"export CUDA_CACHE_PATH=\"/a\\", "1:CACHE_PATH=/a\\|"},
		{"export CUDA_CACHE_PATH='/a\\'\\''b'", "1:CACHE_PATH=/a\\'b|"},
		{"export CUDA_CACHE_PATH=/a\\ b\\\nc", "1:CACHE_PATH=/a bc|"},
		{"export A=\"1\n2\"\nexport CUDA_CACHE_MAXSIZE=1", "3:CACHE_MAXSIZE=1|"},
		{"export A='1\n2'\n\n\texport\tCUDA_CACHE_MAXSIZE=1\r\n", "4:CACHE_MAXSIZE=1|"},
		{"export A=\"1\\\n2\"\nexport CUDA_CACHE_MAXSIZE=1", "3:CACHE_MAXSIZE=1|"},
		{"# a; export CUDA_CACHE_MAXSIZE=1", ""},
		{"a; # b; c\nexport CUDA_CACHE_MAXSIZE=1#2 # 3", "2:CACHE_MAXSIZE=1#2|"},
		/* statements and their verbs */
		{"a|export CUDA_CACHE_MAXSIZE=1&export CUDA_CACHE_PATH=/x;y",
		 "1:CACHE_MAXSIZE=1|1:CACHE_PATH=/x|"},
		{"typeset CUDA_CACHE_MAXSIZE=1", "1:CACHE_MAXSIZE=1|"},
		{"else { do CUDA_CACHE_MAXSIZE=1", "1:CACHE_MAXSIZE=1|"},
		{"unsetenv CUDA_CACHE_PATH CUDA_CACHE_DISABLE", "1!CACHE_PATH=|1!CACHE_DISABLE=|"},
		{"export unset CUDA_CACHE_PATH=1", "1:CACHE_PATH=1|"},
		{"export export=1 set CUDA_CACHE_PATH=1", "1:CACHE_PATH=1|"},
		{"unset CUDA_CACHE_PATH; CUDA_CACHE_PATH=1", "1!CACHE_PATH=|1:CACHE_PATH=1|"},
		{"set -e CUDA_CACHE_PATH; set -g CUDA_CACHE_PATH 1", "1!CACHE_PATH=|1:CACHE_PATH=1|"},
		{"set --export CUDA_CACHE_PATH /x", "1:CACHE_PATH=/x|"},
		{"set --erase CUDA_CACHE_PATH", "1!CACHE_PATH=|"},
		{"set -ge -U CUDA_CACHE_PATH /x", "1!CACHE_PATH=/x|"},
		{"set -gx CUDA_CACHE_PATH", ""},
		{"set -gx CUDA_CACHE_PATH ''", ""},
		{"set -gx", ""},
		{"unset", ""},
		/* what is no assignment, and what holds for one command */
		{"export =1 A-B=1 CUDA_CACHE_PATH =1", ""},
		{"A=1 CUDA_CACHE_PATH=/x", "1:CACHE_PATH=/x|"},
		{"CUDA_CACHE_PATH=/x A=1 a", ""},
		{"CUDA_CACHE_PATH=/x & a", "1:CACHE_PATH=/x|"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(ASSIGN_SHELL, cases[i].text, strlen(cases[i].text), cases[i].wanted);
}

TEST(lists_and_units)
{
	static const char list[] = "PATH=/bin\n#CUDA_CACHE_PATH=/no\nexport CUDA_CACHE_PATH=/a b \n"
							   "CUDA_CACHE_MAXSIZE=\"12\"\r\nCUDA_CACHE_DISABLE='1'";
	static const char unit[] = "[Service]\nEnvironment=A=b \"CUDA_CACHE_PATH=/a b\" \\\n"
							   "  CUDA_CACHE_MAXSIZE=3\nExecStart=x CUDA_CACHE_DISABLE=1\n"
							   "Environment='CUDA_CACHE_DISABLE=1'";

	check(ASSIGN_LIST, list, sizeof list - 1,
		  "3:CACHE_PATH=/a b|4:CACHE_MAXSIZE=12|5:CACHE_DISABLE=1|");
	check(ASSIGN_UNIT, unit, sizeof unit - 1,
		  "2:CACHE_PATH=/a b|2:CACHE_MAXSIZE=3|5:CACHE_DISABLE=1|");
}

TEST(lists)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{" \tCUDA_CACHE_PATH=/a\t", "1:CACHE_PATH=/a|"},
		{"export CUDA_CACHE_PATH=/a", "1:CACHE_PATH=/a|"},
		{"export =1", ""},
		{"exportCUDA_CACHE_PATH=/a", ""},
		{" \t", ""},
		{" \n\nCUDA_CACHE_PATH=\n", "3:CACHE_PATH=|"},
		{"CUDA_CACHE_PATH= \t\r", "1:CACHE_PATH=|"},
		{"CUDA_CACHE_PATH=\"", "1:CACHE_PATH=\"|"},
		{"CUDA_CACHE_PATH=\"\"", "1:CACHE_PATH=|"},
		{"CUDA_CACHE_PATH='a\"", "1:CACHE_PATH='a\"|"},
		{"CUDA_CACHE_PATH=/a'b'", "1:CACHE_PATH=/a'b'|"},
		{"CUDA_CACHE_PATH", ""},
		{"CUDA CACHE=1\nCUDA_CACHE_PATH=/a", "2:CACHE_PATH=/a|"},
	};
	static const struct {
		const char *text, *wanted;
	} units[] = {
		{"Environment=", ""},
		{"Environment\nEnvironment=CUDA_CACHE_PATH=/a", "2:CACHE_PATH=/a|"},
		{"EnvironmentS=CUDA_CACHE_PATH=/a\n", ""},
		{"Environment=A CUDA_CACHE_PATH=/a\nEnvironment=CUDA_CACHE_PATH=/b\n",
		 "1:CACHE_PATH=/a|2:CACHE_PATH=/b|"},
	};
	static const char cut[] = "export CUDA_CACHE_MAX\0SIZE=1\nCUDA_CACHE_PATH=/\0a \0";

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(ASSIGN_LIST, cases[i].text, strlen(cases[i].text), cases[i].wanted);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		check(ASSIGN_UNIT, units[i].text, strlen(units[i].text), units[i].wanted);
	check(ASSIGN_SHELL, cut, sizeof cut - 3, "1:CACHE_MAXSIZE=1|2:CACHE_PATH=/a|");
	check(ASSIGN_LIST, cut, sizeof cut - 1, "1:CACHE_MAXSIZE=1|2:CACHE_PATH=/a |");
}

/* As long as a name and a value can be, and longer: an unknown name, and a value that is cut. */
TEST(long_ones)
{
	char text[2 * ASSIGN_MOST_VALUE], wanted[2 * ASSIGN_MOST_VALUE];

	for (int i = -2; i <= 2; i++) {
		const int size = ASSIGN_MOST_VALUE + i, least = (int)strlen("CUDA_CACHE_PATH="),
				  whole = size - least < ASSIGN_MOST_VALUE - 1 - least
							  ? size - least
							  : ASSIGN_MOST_VALUE - 1 - least;

		(void)snprintf(text, sizeof text, "CUDA_CACHE_PATH=%0*d", size - least, 0);
		(void)snprintf(wanted, sizeof wanted, "1:CACHE_PATH=%0*d|", whole, 0);
		check(ASSIGN_SHELL, text, strlen(text), wanted);
		check(ASSIGN_LIST, text, strlen(text), wanted);
		(void)snprintf(text, sizeof text, "set -gx A%0*d 1; unset CUDA_CACHE_PATH A%0*d",
					   ASSIGN_MOST_NAME - 1 + i, 0, ASSIGN_MOST_NAME - 1 + i, 0);
		check(ASSIGN_SHELL, text, strlen(text), "1!CACHE_PATH=|");
	}
}

/* Of a statement 64 words are looked at, and as many for a command behind assignments. */
TEST(many_words)
{
	for (int i = 62; i <= 66; i++) {
		struct buf exported = BUF_MAX(4096), assigned = BUF_MAX(4096);

		OK(buf_printf(why, &exported, "export"));
		OK(buf_printf(why, &assigned, "CUDA_CACHE_PATH=/x"));
		for (int word = 1; word < i; word++) {
			OK(buf_printf(why, &exported, " A=1"));
			OK(buf_printf(why, &assigned, " A=1"));
		}
		OK(buf_printf(why, &exported, " CUDA_CACHE_PATH=/x"));
		OK(buf_printf(why, &assigned, " command"));
		check(ASSIGN_SHELL, buf_text(&exported), exported.size, i <= 64 ? "1:CACHE_PATH=/x|" : "");
		check(ASSIGN_SHELL, buf_text(&assigned), assigned.size, i <= 64 ? "" : "1:CACHE_PATH=/x|");
		buf_free(&exported);
		buf_free(&assigned);
	}
}

static int take_once(struct jw_error *err, void *context, const struct assign *assign)
{
	(void)assign;
	return ++*(unsigned *)context < 2 ? 0 : error_set(err, JW_ERR_LIMIT, "enough");
}

TEST(a_refusal_ends_it)
{
	static const struct {
		enum assign_form form;
		const char *text;
	} cases[] = {
		{ASSIGN_SHELL, "export CUDA_CACHE_PATH=1 CUDA_CACHE_PATH=2 CUDA_CACHE_PATH=3"},
		{ASSIGN_SHELL, "unset CUDA_CACHE_PATH CUDA_CACHE_PATH CUDA_CACHE_PATH"},
		{ASSIGN_SHELL, "setenv CUDA_CACHE_PATH 1;setenv CUDA_CACHE_PATH 2;setenv CUDA_CACHE_PATH "
					   "3"},
		{ASSIGN_LIST, "CUDA_CACHE_PATH=1\nCUDA_CACHE_PATH=2\nCUDA_CACHE_PATH=3"},
		{ASSIGN_UNIT, "Environment=CUDA_CACHE_PATH=1 CUDA_CACHE_PATH=2 CUDA_CACHE_PATH=3"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		unsigned calls = 0;

		assert_int_equal(assign_parse(why, cases[i].form, cases[i].text, strlen(cases[i].text),
									  take_once, &calls),
						 -1);
		assert_int_equal(calls, 2);
		assert_int_equal(why->code, JW_ERR_LIMIT);
	}
}

TEST(limits)
{
	static const struct {
		uint64_t present, predicted, wanted;
	} cases[] = {
		{0, 0, UINT64_C(1) << 30},
		{UINT64_C(1) << 30, 0, UINT64_C(1) << 30},
		{UINT64_C(1) << 30, 1, (UINT64_C(1) << 30) + (256 << 20)},
		{UINT64_C(1) << 30, 800000000, UINT64_C(2147483648)},
		{UINT64_C(3) << 30, UINT64_C(1) << 30, UINT64_C(1) << 32},
		{UINT64_MAX, 5, UINT64_C(1) << 32},
		{5, UINT64_MAX, UINT64_C(1) << 32},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(jw_tune_limit(cases[i].present, cases[i].predicted), cases[i].wanted);
}

/* No advice lowers the limit that is in force, whatever was meant. */
TEST(advice_never_lowers)
{
	static const uint64_t limits[] = {
		0, 8, 1000, UINT64_C(1) << 28, UINT64_C(1) << 30, UINT64_C(3000000000), UINT64_C(1) << 32};
	const size_t count = sizeof limits / sizeof *limits;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			for (size_t m = 0; m < count; m++) {
				const struct jw_cache_info cache = {
					.limit_bytes = limits[i], .outlook.bytes = limits[k], .meant_bytes = limits[m]};

				for (size_t n = 0; n < count; n++) {
					const uint64_t advised = jw_cache_limit(&cache, limits[n]);

					assert_true(advised >= limits[i] && advised <= UINT64_C(1) << 32);
				}
			}
}

RUN_TESTS(NULL, NULL)
