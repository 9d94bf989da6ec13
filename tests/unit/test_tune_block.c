/* A block in another program's file: inserting and removing it restores the file to the byte. */
#include "check.h"

#include <string.h>

#include "tune/block.h"

static const char body[] = "export CUDA_CACHE_MAXSIZE=1\n";

static void taking_it_back_restores_every_byte(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		size_t size = strlen(texts[i]);
		struct block_found found;
		struct buf with, again, without;
		bool there;

		assert_int_equal(block_put(NULL, "# ", texts[i], size, body, 0, &with), 0);
		assert_non_null(strstr(buf_text(&with), body));
		assert_int_equal(block_put(NULL, "# ", buf_text(&with), with.size, body, 0, &again), 0);
		assert_string_equal(buf_text(&again), buf_text(&with));
		assert_int_equal(
			block_take(NULL, "# ", buf_text(&with), with.size, &without, &there, &found), 0);
		assert_true(there);
		assert_int_equal(found.made, 0);
		assert_int_equal(without.size, size);
		assert_memory_equal(buf_text(&without), texts[i], size);
		buf_free(&with);
		buf_free(&again);
		buf_free(&without);
	}
}

static void nul_bytes_survive(void **state)
{
	static const char text[] = "a\0b\0";
	struct block_found found;
	struct buf with, without;
	bool there;

	(void)state;
	assert_int_equal(block_put(NULL, "# ", text, 4, body, 0, &with), 0);
	assert_int_equal(block_take(NULL, "# ", (char *)with.data, with.size, &without, &there, &found),
					 0);
	assert_int_equal(without.size, 4);
	assert_memory_equal(without.data, text, 4);
	buf_free(&with);
	buf_free(&without);
}

static void text_behind_the_block_stays(void **state)
{
	struct block_found found;
	struct buf with, more = BUF_MAX(4096), without;
	bool there;

	(void)state;
	assert_int_equal(block_put(NULL, "# ", "a", 1, body, 0, &with), 0);
	assert_int_equal(buf_printf(NULL, &more, "%sb\n", buf_text(&with)), 0);
	assert_int_equal(block_take(NULL, "# ", buf_text(&more), more.size, &without, &there, &found),
					 0);
	assert_string_equal(buf_text(&without), "a\nb\n");
	buf_free(&with);
	buf_free(&more);
	buf_free(&without);
}

static void a_block_changes_in_its_place(void **state)
{
	struct block_found found;
	struct buf with, more = BUF_MAX(4096), other;
	bool there;

	(void)state;
	assert_int_equal(block_put(NULL, "rem ", "", 0, body, 3, &with), 0);
	assert_int_equal(buf_printf(NULL, &more, "%sb", buf_text(&with)), 0);
	assert_int_equal(block_put(NULL, "rem ", buf_text(&more), more.size, "x\n", 0, &other), 0);
	assert_string_equal(buf_text(&other),
						"rem >>> jitwarm tune (made 3) >>>\nx\nrem <<< jitwarm tune <<<\nb");
	assert_int_equal(block_find(NULL, "rem ", buf_text(&other), other.size, &there, &found), 0);
	assert_true(there);
	assert_int_equal(found.made, 3);
	assert_int_equal(block_find(NULL, "# ", buf_text(&other), other.size, &there, &found), 0);
	assert_false(there);
	buf_free(&with);
	buf_free(&more);
	buf_free(&other);
}

static void half_a_block_is_not_touched(void **state)
{
	static const char text[] = "a\n# >>> jitwarm tune >>>\nexport X=1\n";
	struct jw_error err = {0};
	struct block_found found;
	struct buf buf;
	bool there;

	(void)state;
	assert_int_equal(block_put(&err, "# ", text, sizeof text - 1, body, 0, &buf), -1);
	assert_int_equal(err.code, JW_ERR_FORMAT);
	assert_int_equal(block_take(&err, "# ", text, sizeof text - 1, &buf, &there, &found), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taking_it_back_restores_every_byte),
		cmocka_unit_test(nul_bytes_survive),
		cmocka_unit_test(text_behind_the_block_stays),
		cmocka_unit_test(a_block_changes_in_its_place),
		cmocka_unit_test(half_a_block_is_not_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
