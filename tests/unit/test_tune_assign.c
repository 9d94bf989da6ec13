/* Which variables profiles, lists and units set. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/tune.h>

#include "base/buf.h"
#include "tune/assign.h"
#include "tune/setting_places.h"

static int take(struct jw_error *err, void *context, const struct assign *assign)
{
	return buf_printf(err, context, "%zu%s%s=%s|", assign->line, assign->unset ? "!" : ":",
					  assign->name + strlen("CUDA_"), assign->value);
}

static void check(enum assign_form form, const char *text, size_t size, const char *wanted)
{
	struct buf found = BUF_MAX(1 << 16);

	assert_int_equal(assign_parse(NULL, form, text, size, take, &found), 0);
	assert_string_equal(buf_text(&found), wanted);
	buf_free(&found);
}

static void shells(void **state)
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
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(ASSIGN_SHELL, cases[i].text, strlen(cases[i].text), cases[i].wanted);
}

static void lists_and_units(void **state)
{
	static const char list[] = "PATH=/bin\n#CUDA_CACHE_PATH=/no\nexport CUDA_CACHE_PATH=/a b \n"
							   "CUDA_CACHE_MAXSIZE=\"12\"\r\nCUDA_CACHE_DISABLE='1'";
	static const char unit[] = "[Service]\nEnvironment=A=b \"CUDA_CACHE_PATH=/a b\" \\\n"
							   "  CUDA_CACHE_MAXSIZE=3\nExecStart=x CUDA_CACHE_DISABLE=1\n"
							   "Environment='CUDA_CACHE_DISABLE=1'";
	static const char nuls[] = "A=1\0CUDA_CACHE_MAXSIZE=4\0\0CUDA_CACHE_PATH=/x\ny";

	(void)state;
	check(ASSIGN_LIST, list, sizeof list - 1,
		  "3:CACHE_PATH=/a b|4:CACHE_MAXSIZE=12|5:CACHE_DISABLE=1|");
	check(ASSIGN_UNIT, unit, sizeof unit - 1,
		  "2:CACHE_PATH=/a b|2:CACHE_MAXSIZE=3|5:CACHE_DISABLE=1|");
	check(ASSIGN_NULS, nuls, sizeof nuls - 1, "0:CACHE_MAXSIZE=4|0:CACHE_PATH=/x\ny|");
}

/* A written line is read back with the same value, for every path. */
static void lines_are_read_back(void **state)
{
	static const struct {
		enum place_form write;
		enum assign_form read;
	} forms[] = {{PLACE_SH, ASSIGN_SHELL},
				 {PLACE_FISH, ASSIGN_SHELL},
				 {PLACE_FISH_LOGIN, ASSIGN_SHELL},
				 {PLACE_LIST, ASSIGN_LIST},
				 {PLACE_UNIT, ASSIGN_UNIT}};
	static const char *const paths[] = {"/home/x/.nv/ComputeCache", "/home/김 지원/c", "/a'b",
										"/a\"$b\\c", "/a#b;c&d"};
	const size_t count = sizeof paths / sizeof *paths;

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		for (size_t j = 0; j < count; j++) {
			struct buf text = BUF_MAX(1 << 16), found = BUF_MAX(1 << 16);
			char wanted[256];

			/* If it cannot be written, an error says so. */
			if (place_lines(NULL, forms[i].write, 77, paths[j], &text)) {
				assert_true(j >= 2);
				buf_free(&text);
				continue;
			}
			assert_int_equal(
				assign_parse(NULL, forms[i].read, buf_text(&text), text.size, take, &found), 0);
			(void)snprintf(wanted, sizeof wanted, ":CACHE_PATH=%s|", paths[j]);
			/* In fish a backslash within single quotes is special, unlike in sh. */
			if ((forms[i].write != PLACE_FISH && forms[i].write != PLACE_FISH_LOGIN) || j < 2)
				assert_non_null(strstr(buf_text(&found), wanted));
			assert_non_null(strstr(buf_text(&found), ":CACHE_MAXSIZE=77|"));
			buf_free(&text);
			buf_free(&found);
		}
}

static void limits(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(jw_tune_limit(cases[i].present, cases[i].predicted), cases[i].wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shells),
		cmocka_unit_test(lists_and_units),
		cmocka_unit_test(lines_are_read_back),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
