/* The table of an image's sections: each byte belongs to one of them. */
#include "check.h"

#include <string.h>

#include "code/image.h"
#include "code/sections.h"

static void put_section(struct section_table *table, const char *name, uint64_t offset,
						uint64_t size)
{
	sections_add(table, name, strlen(name), offset, size, 0x1000 + offset);
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

/* A linker makes some dozens of sections: many wrappers times many sections would take minutes. */
TEST(wrappers_among_too_many_sections_are_not_followed)
{
	enum { MANY = 4097, FEW = 4094 };
	static struct wrapper wrappers[MANY];
	struct section_table table = {0};

	put_section(&table, ".nvFatBinSegment", 0, MANY * WRAPPER_SIZE);
	for (size_t i = 1; i < MANY; i++)
		put_section(&table, ".data", table.items[0].size_bytes + 16 * i, 16);
	for (size_t i = 0; i < MANY; i++)
		wrappers[i] = (struct wrapper){WRAPPER_SIZE * i, table.items[MANY - 1].address};
	for (size_t i = 0; i < 2; i++) {
		struct devcode_container container = {.offset = table.items[MANY - 1].offset};
		struct image image = {.format = DEVCODE_PE,
							  .containers = &container,
							  .count = 1,
							  .wrappers = wrappers,
							  .wrapper_count = i ? MANY : FEW};

		assert_int_equal(wrappers_follow(&image, &table, NULL), !i);
		assert_int_equal(container.linked, !i);
	}
	sections_free(&table);
}

RUN_TESTS(NULL, NULL)
