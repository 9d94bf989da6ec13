/* The table of an image's sections: each byte belongs to one of them. */
#include "check.h"

#include <string.h>

#include "devcode/sections.h"

static void put_section(struct section_table *table, const char *name, uint64_t offset,
						uint64_t size)
{
	assert_int_equal(sections_add(NULL, table, name, strlen(name), offset, size, 0x1000 + offset),
					 0);
}

TEST(of_two_that_overlap_the_later_is_cut)
{
	struct section_table table = {0};

	put_section(&table, ".inside", 120, 10);
	put_section(&table, ".late", 150, 100);
	put_section(&table, ".nv_fatbin", 100, 100);
	put_section(&table, ".none", 0, 0);
	put_section(&table, ".same", 100, 100);
	sections_sort(&table);
	assert_int_equal(table.count, 2);
	assert_string_equal(table.items[1].name, ".late");
	assert_int_equal(table.items[0].offset, 100);
	assert_int_equal(table.items[0].size_bytes, 100);
	assert_int_equal(table.items[1].offset, 200);
	assert_int_equal(table.items[1].size_bytes, 50);
	assert_int_equal(table.items[1].address, 0x1000 + 200);
	assert_ptr_equal(sections_holding(&table, 120, 10), &table.items[0]);
	assert_null(sections_holding(&table, 190, 20));
	assert_ptr_equal(sections_holding(&table, 200, 50), &table.items[1]);
	assert_null(sections_holding(&table, 200, 51));
	assert_null(sections_holding(&table, 250, 1));
	sections_free(&table);
}

RUN_TESTS(NULL, NULL)
