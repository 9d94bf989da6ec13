/* A package may have very many libraries: finding those of another system costs a step for each. */
#include <stdio.h>

#include "base/set.h"
#include "check.h"
#include "find/found.h"
#include "os/platform.h"

enum { MOST = 1 << 10 };

/* A set that counts steps: one for each index that the key has already. */
static struct {
	uint64_t key;
	size_t index;
} kept[MOST];
static size_t count, steps;

size_t set_find(const struct set *set, uint64_t key, size_t *cursor);
bool set_has(const struct set *set, uint64_t key);
void set_add(struct set *set, uint64_t key, size_t index);
void set_put(struct set *set, uint64_t key, size_t index);
void set_free(struct set *set);

size_t set_find(const struct set *set, uint64_t key, size_t *cursor)
{
	(void)set;
	for (size_t at = *cursor; at < count; at++)
		if (kept[at].key == key) {
			*cursor = at + 1;
			return kept[at].index;
		}
	return SET_NONE;
}

bool set_has(const struct set *set, uint64_t key)
{
	size_t cursor = 0;

	return set_find(set, key, &cursor) != SET_NONE;
}

void set_add(struct set *set, uint64_t key, size_t index)
{
	size_t cursor = 0;

	while (set_find(set, key, &cursor) != SET_NONE)
		steps++;
	assert_in_range(count, 0, MOST - 1);
	kept[count].key = key;
	kept[count++].index = index;
}

void set_put(struct set *set, uint64_t key, size_t index)
{
	steps++;
	if (!set_has(set, key))
		set_add(set, key, index);
}

void set_free(struct set *set)
{
	(void)set;
	count = 0;
}

/* Returns the steps for packages with so many libraries each. */
static size_t steps_for(size_t files)
{
	static char names[][8] = {"one", "two"};
	struct found_list list;
	struct find_package packages[2];

	found_open(&list);
	for (size_t i = 0; i < 2; i++)
		OK(found_package(why, &list, names[i], "1.0", true, &packages[i]));
	for (size_t i = 0; i < 2 * files; i++) {
		const struct os_stat stat = {.device = 1, .inode = i + 1};
		char path[64];

		(void)snprintf(path, sizeof path, "%s/lib%zu.%s", names[i % 2], i,
					   os_separator == '/' ? "so" : "dll");
		OK(found_file(why, &list, path, &stat, &packages[i % 2]));
	}
	/* One file of the first package is for the other system. */
	OK(found_file(why, &list, os_separator == '/' ? "one/lib.dll" : "one/lib.so",
				  &(struct os_stat){.device = 2, .inode = 1}, &packages[0]));
	set_free(NULL);
	steps = 0;
	found_drop_foreign(&list);
	assert_int_equal(list.found->file_count, 2 * files);
	jw_result_free(list.found);
	found_close(&list);
	return steps;
}

TEST(a_step_for_each_library)
{
	assert_in_range(steps_for(200), 0, 2 * steps_for(100) + 2);
}

RUN_TESTS(NULL, NULL)
