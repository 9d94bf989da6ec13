/* The names in __nv_module_id map each object to its linked container, and contradictions map to
 * none. */
#include "check.h"

#include "code/container.h"

/* Each string ends with a NUL; the last one may lack it. */
static bool read_ids(const char *ids, size_t size, size_t objects, size_t linked, uint32_t *links)
{
	return module_ids_read((const uint8_t *)ids, size, objects, linked, links);
}
#define READ(ids, objects, linked, links) read_ids(ids, sizeof ids, objects, linked, links)

TEST(what_is_contradictory_is_unknown)
{
	uint32_t links[4];

	assert_true(READ("def _a\0_a\0def _b\0_b", 2, 2, links));
	/* Two lists, one after the other, look like one. */
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
