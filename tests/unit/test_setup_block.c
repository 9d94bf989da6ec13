/* A block in another program's file: inserting and removing it restores the file to the byte. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "setup/block.h"

static const char body[] = "export CUDA_CACHE_MAXSIZE=1\n";

TEST(taking_it_back_restores_every_byte)
{
	static const char *const texts[] = {
		"",
		"\n",
		"a",
		"a\n",
		"a\nb",
		"a\n\n\n",
		"a\r\nb\r\n",
		"a\r\nb",
		"# >>> jitwarm tuned >>>\nnot ours\n",
		"# >>> jitwarm tune (made 99999) >>>\nnot ours\n",
		"# >>> jitwarm tune (made 0) >>>\n",
		"# <<< jitwarm tune <<<\n",
		"export A='\n# inside a string\n'\n",
		"\xff\xfe broken \x80",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		size_t size = strlen(texts[i]);
		struct block_found found;
		struct buf with, again, without;
		bool there;

		OK(block_put(why, texts[i], size, body, 0, &with));
		assert_non_null(strstr(buf_text(&with), body));
		OK(block_put(why, buf_text(&with), with.size, body, 0, &again));
		assert_string_equal(buf_text(&again), buf_text(&with));
		OK(block_take(why, buf_text(&with), with.size, &without, &there, &found));
		assert_true(there);
		assert_int_equal(found.made, 0);
		assert_int_equal(without.size, size);
		assert_memory_equal(buf_text(&without), texts[i], size);
		buf_free(&with);
		buf_free(&again);
		buf_free(&without);
	}
}

TEST(text_behind_the_block_stays)
{
	struct block_found found;
	struct buf with, more = BUF_MAX(4096), without;
	bool there;

	OK(block_put(why, "a", 1, body, 0, &with));
	OK(buf_printf(why, &more, "%sb\n", buf_text(&with)));
	OK(block_take(why, buf_text(&more), more.size, &without, &there, &found));
	assert_string_equal(buf_text(&without), "a\nb\n");
	buf_free(&with);
	buf_free(&more);
	buf_free(&without);
}

#define BEGIN "# >>> jitwarm tune"
#define END   "# <<< jitwarm tune <<<"

/* Which lines begin a block and end it, and what the first one says. */
TEST(only_our_own_lines_count)
{
	static const struct {
		const char *text;
		size_t start, end;
		bool joined;
		unsigned made;
	} blocks[] = {
		{BEGIN " >>>\n" END, 0, 45, false, 0},
		{"a\n" BEGIN " >>>\r\nx\r\n" END "\r\nb", 2, 53, false, 0},
		{BEGIN " (joined) >>>\n" END "\n", 0, 55, true, 0},
		{BEGIN " (made 1) >>>\n" END "\n", 0, 55, false, 1},
		{BEGIN " (made 16) >>>\n" END "\n", 0, 56, false, 16},
		/* the first end behind the beginning */
		{END "\n" BEGIN " >>>\n" END "\n" END "\n", 23, 69, false, 0},
	};
	static const char *const others[] = {
		BEGIN "\n",
		BEGIN,
		BEGIN " >>\n",
		BEGIN " (made 17) >>>\n",
		BEGIN " (made 0) >>>\n",
		BEGIN " (made 3) >>>x\n",
		BEGIN " (made 3) >\n",
		BEGIN " (made x) >>>\n",
		"# >>> jitwarm tun",
		"#",
	};
	static const char cut[] = BEGIN " >>>\0\n" END "\n";
	struct block_found found;
	bool there;

	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		const char *text = blocks[i].text;

		OK(block_find(why, text, strlen(text), &there, &found));
		assert_true(there);
		assert_int_equal(found.start, blocks[i].start);
		assert_int_equal(found.end, blocks[i].end);
		assert_int_equal(found.joined, blocks[i].joined);
		assert_int_equal(found.made, blocks[i].made);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		there = true;
		OK(block_find(why, others[i], strlen(others[i]), &there, &found));
		assert_false(there);
	}
	OK(block_find(why, cut, sizeof cut - 1, &there, &found));
	assert_false(there);
	/* A line that is longer than any of ours, by its first bytes one */
	for (int size = 40; size < 60; size++) {
		char text[100];

		(void)snprintf(text, sizeof text, BEGIN "%-*s\n", size, " >>>");
		OK(block_find(why, text, strlen(text), &there, &found));
		assert_false(there);
	}
}

TEST(the_first_line_says_what_was_there)
{
	static const struct {
		const char *before, *wanted;
	} cases[] = {
		{"", BEGIN " (made 2) >>>\n" END "\n"},
		{"a\n", "a\n" BEGIN " >>>\n" END "\n"},
		{"a", "a\n" BEGIN " (joined) >>>\n" END "\n"},
		{BEGIN " (joined) >>>\nx\n" END "\n", BEGIN " (joined) >>>\n" END "\n"},
	};
	static const char joined[] = BEGIN " (joined) >>>\n" END "\n";
	struct block_found found;
	struct buf text;
	bool there;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		OK(block_put(why, cases[i].before, strlen(cases[i].before), "", 2, &text));
		assert_string_equal(buf_text(&text), cases[i].wanted);
		buf_free(&text);
	}
	/* Its line feed is no longer there. */
	OK(block_take(why, joined, sizeof joined - 1, &text, &there, &found));
	assert_string_equal(buf_text(&text), "");
	buf_free(&text);
}

/* Files of two machines may have been joined. What lies before another beginning may be the user's.
 */
TEST(every_block_goes_and_nothing_else)
{
	static const char two[] =
		"a\n" BEGIN " (made 1) >>>\nx\n" END "\nb\n" BEGIN " >>>\ny\n" END "\nc\n";
	static const char open[] = BEGIN " >>>\nx\nmine\n" BEGIN " >>>\ny\n" END "\n";
	struct block_found found;
	struct buf text;
	bool there;

	OK(block_take(why, two, sizeof two - 1, &text, &there, &found));
	assert_true(there);
	assert_string_equal(buf_text(&text), "a\nb\nc\n");
	buf_free(&text);
	OK(block_put(why, two, sizeof two - 1, "z\n", 0, &text));
	assert_string_equal(buf_text(&text), "a\n" BEGIN " (made 1) >>>\nz\n" END "\nb\nc\n");
	buf_free(&text);
	GIVES(JW_ERR_FORMAT, block_take(why, open, sizeof open - 1, &text, &there, &found));
	GIVES(JW_ERR_FORMAT, block_put(why, open, sizeof open - 1, body, 0, &text));
}

RUN_TESTS(NULL, NULL)
