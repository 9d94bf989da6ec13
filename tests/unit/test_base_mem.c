/* Elements are found or added up to a limit, and never beyond it. */
#include "check.h"

#include "base/mem.h"

struct group {
	int kind, count;
};

static bool is_same(const void *element, const void *like)
{
	return ((const struct group *)element)->kind == ((const struct group *)like)->kind;
}

TEST(groups_are_found_or_added_up_to_the_most)
{
	static const int kinds[] = {5, 6, 5, 7, 8, 7}, places[] = {0, 1, 0, 2, 3, 2};
	struct group *groups = NULL;
	size_t count = 0, capacity = 0, at = 9;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		at = mem_find_or_add(&VEC_LIST(groups, count, capacity, 3),
							 &(struct group){.kind = kinds[i]}, is_same);
		assert_int_equal(at, places[i]);
		if (at < 3)
			groups[at].count++;
	}
	assert_int_equal(count, 3);
	assert_int_equal(groups[0].count, 2);
	assert_int_equal(groups[2].kind, 7);
	assert_int_equal(groups[2].count, 2);
	/* A larger limit accepts more; existing elements beyond a smaller limit are found. */
	at =
		mem_find_or_add(&VEC_LIST(groups, count, capacity, 4), &(struct group){.kind = 9}, is_same);
	assert_int_equal(at, 3);
	at =
		mem_find_or_add(&VEC_LIST(groups, count, capacity, 2), &(struct group){.kind = 9}, is_same);
	assert_int_equal(at, 3);
	/* A larger limit has allocated more than a smaller limit allows to use. */
	OK(VEC_ROOM(why, groups, capacity, count, 100));
	for (; count < capacity - 1; count++)
		groups[count] = (struct group){.kind = 100 + (int)count};
	at = mem_find_or_add(&VEC_LIST(groups, count, capacity, count), &(struct group){.kind = 50},
						 is_same);
	assert_int_equal(at, count);
	assert_true(count < capacity);
	mem_free(groups);
}

RUN_TESTS(NULL, NULL)
