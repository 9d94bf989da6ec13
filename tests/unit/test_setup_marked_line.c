/* In profiles of all kinds, a marked line leaves the text before and after it unchanged. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "setup/marked_line.h"

#define MARK "# jitwarm tune --scope user"
#define LINE "load " MARK

static char *put(const char *text, const char *line, bool is_new)
{
	struct buf after = {0};
	char *result;

	OK(marked_put(why, text, strlen(text), MARK, line, is_new, &after));
	result = mem_string(buf_text(&after));
	buf_free(&after);
	return result;
}

static char *take(const char *text, bool there)
{
	struct buf after = {0};
	char *result;
	bool seen;

	OK(marked_take(why, text, strlen(text), MARK, &after, &seen));
	assert_int_equal(seen, there);
	result = mem_string(buf_text(&after));
	buf_free(&after);
	return result;
}

static const char *const texts[] = {
	"export A=1",
	"# comment",
	"if true; then\n\texport A=1\nfi",
	"\xec\x95\x88\xeb\x85\x95",
	"alias jitwarm='jitwarm tune'",
	"# jitwarm tune --scope shell",
	"CUDA_CACHE_MAXSIZE=1",
	"\\",
};
/* between lines, and at the end */
static const char *const ends[][2] = {
	{"\n", "\n"}, {"\n", ""}, {"\r\n", "\r\n"}, {"\r\n", ""}, {"\n\n", "\n\n\n"}};

/* Eight texts with five kinds of line ends make forty profiles. */
TEST(what_stands_before_and_after_is_untouched)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (size_t end = 0; end < sizeof ends / sizeof *ends; end++) {
			char *before =
				keep(mem_printf("%s%s%s%s", "first", ends[end][0], texts[i], ends[end][1]));
			const char *feed = *ends[end][1] ? "" : "\n";
			char *wanted = keep(mem_printf("%s%s" LINE "\n", before, feed)),
				 *whole = keep(mem_printf("%s%s", before, feed)),
				 *after = keep(put(before, LINE, false)), *again = keep(put(after, LINE, false)),
				 *undone = keep(take(after, true)), *more, *rest;

			assert_string_equal(after, wanted);
			assert_string_equal(again, wanted);
			assert_string_equal(undone, whole);
			/* A line that somebody appends stays in its place, also after a new line before it. */
			more = keep(mem_printf("%sexport B=2", after));
			again = keep(put(more, "other " MARK, false));
			wanted = keep(mem_printf("%sother " MARK "\nexport B=2", whole));
			assert_string_equal(again, wanted);
			rest = keep(take(again, true));
			wanted = keep(mem_printf("%sexport B=2", whole));
			assert_string_equal(rest, wanted);
		}
}

/* A new file is empty again afterwards; an empty file keeps a line feed. */
TEST(a_new_file_and_an_empty_one_are_told_apart)
{
	static const char *const files[][2] = {{LINE "\n", ""}, {"\n" LINE "\n", "\n"}};

	for (int is_new = 1; is_new >= 0; is_new--) {
		char *after = keep(put("", LINE, is_new)), *again = keep(put(after, LINE, false)),
			 *undone = keep(take(after, true));

		assert_string_equal(after, files[!is_new][0]);
		assert_string_equal(again, after);
		assert_string_equal(undone, files[!is_new][1]);
	}
}

/* The mark claims only the lines directly below it, each variable once. */
TEST(a_mark_claims_its_variables)
{
	static const struct {
		const char *text, *rest;
	} cases[] = {
		{MARK "\nCUDA_CACHE_MAXSIZE=1\nCUDA_CACHE_PATH=/a\nJITWARM_TUNED=1:/a\nB=1\n", "B=1\n"},
		{MARK "\nCUDA_CACHE_MAXSIZE=1\nCUDA_CACHE_MAXSIZE=2\n", "CUDA_CACHE_MAXSIZE=2\n"},
		{MARK "\nB=1\nCUDA_CACHE_MAXSIZE=2\n", "B=1\nCUDA_CACHE_MAXSIZE=2\n"},
		{MARK "\nCUDA_CACHE_MAXSIZED=2\n", "CUDA_CACHE_MAXSIZED=2\n"},
		{LINE "\nCUDA_CACHE_MAXSIZE=2\n", "CUDA_CACHE_MAXSIZE=2\n"},
		{"A=1\r\n" MARK "\r\nCUDA_CACHE_PATH=/a\r\nB=1", "A=1\r\nB=1"},
		/* the files of two machines were joined */
		{LINE "\nB=1\n" LINE, "B=1\n"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *rest = keep(take(cases[i].text, true));

		assert_string_equal(rest, cases[i].rest);
	}
	mem_free(take("export CUDA_CACHE_PATH=/a " MARK "s\n", false));
	mem_free(take("", false));
}

RUN_TESTS(NULL, NULL)
