/* Every unit test includes this: cmocka, and the headers that must come before it. TEST(name) { … }
 * is a test of its file, TEST_WITH(name, set_up, tear_down) one with functions before and after it,
 * and RUN_TESTS(set_up, tear_down) at the end runs them in their order; TEST_PROGRAM { … } is what
 * does more than that. All files are one program, and check.c runs the one that is named.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CHECK_MOST = 40 };

__attribute__((unused)) static struct CMUnitTest check_tests[CHECK_MOST];
__attribute__((unused)) static int check_lines[CHECK_MOST], check_count;

/* Not every platform calls constructors in the order of the file. */
static inline void check_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
							 CMFixtureFunction tear_down, int line)
{
	int at = check_count++;
	if (at == CHECK_MOST)
		abort();
	for (; at > 0 && check_lines[at - 1] > line; at--) {
		check_tests[at] = check_tests[at - 1];
		check_lines[at] = check_lines[at - 1];
	}
	check_tests[at] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
	check_lines[at] = line;
}

#define TEST_WITH(name, set_up, tear_down)                                                         \
	static void name(void **state);                                                                \
	__attribute__((constructor)) static void name##_is_a_test(void)                                \
	{                                                                                              \
		check_add(#name, name, set_up, tear_down, __LINE__);                                       \
	}                                                                                              \
	static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)
/* Runs this file's tests, and returns the exit status. */
void check_file(const char *path, int (*run)(void));

#define TEST_PROGRAM                                                                               \
	static int check_run(void);                                                                    \
	__attribute__((constructor)) static void check_is_a_file(void)                                 \
	{                                                                                              \
		check_file(__FILE__, check_run);                                                           \
	}                                                                                              \
	static int check_run(void)
#define RUN_GROUP(set_up, tear_down)                                                               \
	_cmocka_run_group_tests("tests", check_tests, (size_t)check_count, set_up, tear_down)
#define RUN_TESTS(set_up, tear_down)                                                               \
	TEST_PROGRAM                                                                                   \
	{                                                                                              \
		return RUN_GROUP(set_up, tear_down);                                                       \
	}

/* When the file was last written, in nanoseconds since 1970. */
void check_set_mtime(const char *path, int64_t mtime_ns);

/* Exit status that ctest reports as "skipped". */
#define CHECK_SKIP 77
