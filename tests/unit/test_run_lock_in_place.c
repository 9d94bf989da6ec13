/* Locks on files that other processes remove: a lock counts while its file is in place, and what a
 * killed run has left is removed under its lock. */
#include "gates_posix.h"

#include "bake/package_part.h"
#include "folder.h"
#include "run/cache_turn_lock.h"

static unsigned passed, could_lock, to_take;

static void take_first(const char *path, void (*take)(const char *path))
{
	if ((strstr(path, ".jitwarm-bake") || strstr(path, ".jitwarm-lock")) && passed < to_take) {
		passed++;
		take(path);
	}
}

static void remove_it(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static void remove_first(const char *path)
{
	take_first(path, remove_it);
}

static void replace_first(const char *path)
{
	take_first(path, gate_replace);
}

static void expect_in_place(struct os_file *file, const char *path)
{
	struct os_stat own, named;

	assert_non_null(file);
	assert_int_equal(os_file_stat(NULL, file, &own), 0);
	assert_int_equal(os_stat(NULL, path, &named), 0);
	assert_true(own.inode == named.inode);
}

/* Another run takes the new file for a leftover before it is locked, and once more. */
static void a_package_is_the_one_in_place(void **state)
{
	static void (*const gates[])(const char *path) = {remove_first, replace_first};
	char *out = os_join(NULL, folder, "out");

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct package_part part = {0};
		struct jw_error err;

		passed = 0;
		to_take = 2;
		gate_before_lock = gates[i];
		if (package_part_open(&err, out, out, &part))
			fail_msg("%s", err.message);
		gate_before_lock = NULL;
		assert_int_equal(passed, 2);
		expect_in_place(part.file, part.path);
		package_part_drop(&part);
	}
	mem_free(out);
}

static void look_whether_locked(const char *path)
{
	char package[4200];

	if (!strstr(path, ".jitwarm-bake.abcdef"))
		return;
	(void)snprintf(package, sizeof package, "%s", path);
	*(strstr(package, ".jitwarm-bake.abcdef") + strlen(".jitwarm-bake.abcdef")) = 0;
	passed++;
	could_lock += gate_can_lock(package) ? 1 : 0;
}

static void leftovers_are_removed_under_their_lock(void **state)
{
	static const char *const names[] = {"left/.jitwarm-bake.abcdef",
										"left/.jitwarm-bake.abcdef.member.ghijkl"};
	char *out = os_join(NULL, folder, "left");
	struct package_part part = {0};

	(void)state;
	assert_int_equal(os_make_dirs(NULL, out, 0755), 0);
	for (size_t i = 0; i < 2; i++) {
		char *path = os_join(NULL, folder, names[i]);

		assert_int_equal(os_write_atomic(NULL, path, "x", 1), 0);
		mem_free(path);
	}
	passed = could_lock = 0;
	gate_before_removal = look_whether_locked;
	assert_int_equal(package_part_open(NULL, out, out, &part), 0);
	gate_before_removal = NULL;
	assert_int_equal(passed, 2);
	assert_int_equal(could_lock, 0);
	package_part_drop(&part);
	mem_free(out);
}

/* The last holder removes the lock's file between its opening and its locking. */
static void a_turn_is_that_of_the_file_in_place(void **state)
{
	static void (*const gates[])(const char *path) = {remove_first, replace_first};
	char *cache = os_join(NULL, folder, "cache");

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		static const struct cache_turn_wait wait;
		struct cache_turn turn = {0};

		passed = 0;
		to_take = 2;
		gate_before_lock = gates[i];
		assert_int_equal(cache_turn_take(NULL, cache, &wait, &turn), 0);
		gate_before_lock = NULL;
		assert_int_equal(passed, 2);
		expect_in_place(turn.lock, turn.lock_path);
		cache_turn_end(&turn);
	}
	mem_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_package_is_the_one_in_place),
		cmocka_unit_test(leftovers_are_removed_under_their_lock),
		cmocka_unit_test(a_turn_is_that_of_the_file_in_place),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
