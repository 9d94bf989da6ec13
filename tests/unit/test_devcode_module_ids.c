/* Which objects are part of which linked container, by the names in __nv_module_id. */
#include "check.h"

#include <string.h>

#include "devcode/container.h"

#define NONE MODULE_IDS_NONE

/* Each string ends in its NUL; the last may have none. */
static bool read_ids(const char *ids, size_t size, size_t objects, size_t linked, uint32_t *links)
{
	bool known = false;

	assert_int_equal(
		module_ids_read(NULL, (const uint8_t *)ids, size, objects, linked, links, &known), 0);
	return known;
}
#define READ(ids, objects, linked, links) read_ids(ids, sizeof ids, objects, linked, links)

TEST(each_list_is_a_linked_container)
{
	uint32_t links[4];

	/* As XGBoost has it: the first list names the last object. */
	assert_true(READ("def _d\0\0\0\0_a\0_b\0def _a\0\0def _c\0_c\0_d", 4, 2, links));
	assert_int_equal(links[0], 1);
	assert_int_equal(links[1], NONE); /* in no list: it is never linked */
	assert_int_equal(links[2], 1);
	assert_int_equal(links[3], 0);
	assert_true(READ("_a\0_b\0def _b\0def _a", 2, 1, links));
	assert_int_equal(links[0], 0);
	assert_int_equal(links[1], 0);
}

TEST(what_is_contradictory_is_unknown)
{
	uint32_t links[4];

	assert_true(READ("def _a\0_a\0def _b\0_b", 2, 2, links));
	/* Two lists, one behind the other, look like one. */
	assert_false(READ("def _a\0def _b\0_a\0_b", 2, 2, links));
	assert_false(READ("def _a\0_a\0def _b\0_b", 2, 1, links));
	assert_false(READ("def _a\0_a\0def _b\0_b", 3, 2, links));
	assert_false(READ("def _a\0_a\0def _b\0_b", 1, 2, links));
	assert_false(READ("def _a\0_a\0def _c\0_b", 2, 2, links));
	assert_false(READ("def _a\0_a\0def _a\0_b", 2, 2, links));
	assert_false(READ("def _a\0_a\0def _b\0_a", 2, 2, links));
	assert_false(READ("def _a\0_a\0_b\0def ", 2, 2, links));
	assert_false(READ("", 1, 1, links));
	assert_false(read_ids("", 0, 2, 1, links));
	assert_true(READ("", 0, 0, links));
}

RUN_TESTS(NULL, NULL)
