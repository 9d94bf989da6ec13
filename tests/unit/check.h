/* Every unit test includes this: cmocka, and the headers that must come before it. TEST(name) { … }
 * is a test of its file, TEST_WITH(name, set_up, tear_down) one with functions before and after it,
 * and RUN_TESTS(set_up, tear_down) at the end runs them in their order; TEST_PROGRAM { … } is a
 * program that does more than that. All files are one program, and main.c runs the one that is
 * named. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

/* Fails the test. The message is printed once more at the end, so that the last line names the
 * cause. */
_Noreturn void check_fail(const char *file, int line, const char *format, ...) JW_PRINTF(3, 4);
/* Reports a failure and continues; the test fails at its end. */
void check_wrong(const char *format, ...) JW_PRINTF(1, 2);
int check_end(int failed);
void check_integers(const char *file, int line, const char *texts[2], intmax_t is, intmax_t wanted);
void check_range(const char *file, int line, const char *text, uintmax_t is, uintmax_t least,
				 uintmax_t most);
void check_strings(const char *file, int line, const char *text, const char *is,
				   const char *wanted);
void check_bytes(const char *file, int line, const char *text, const void *is, const void *wanted,
				 size_t size);

/* The reason of a call's failure, and its first argument: OK(cache_repair(why, live)) prints it if
 * the call fails. GIVES(JW_ERR_BUSY, cache_repair(why, live)) expects this failure, with a
 * reason. */
extern struct jw_error why[1];
void check_ok(const char *file, int line, const char *call, int result);
void check_gives(const char *file, int line, const char *texts[2], enum jw_code code, int result);

#define OK(call) check_ok(__FILE__, __LINE__, #call, call)
#define GIVES(code, call)                                                                          \
	(*why = (struct jw_error){0},                                                                  \
	 check_gives(__FILE__, __LINE__, (const char *[]){#call, #code}, code, call))

/* These replace cmocka's macros, which print neither the expression nor decimal numbers. */
#undef fail_msg
#undef assert_true
#undef assert_false
#undef assert_null
#undef assert_non_null
#undef assert_ptr_equal
#undef assert_int_equal
#undef assert_int_not_equal
#undef assert_string_equal
#undef assert_string_not_equal
#undef assert_memory_equal
#undef assert_in_range
#define CHECK(text, holds)                                                                         \
	((holds) ? (void)0 : check_fail(__FILE__, __LINE__, "%s does not hold", text))
#define fail_msg(...)          check_fail(__FILE__, __LINE__, __VA_ARGS__)
#define assert_true(x)         CHECK(#x, x)
#define assert_false(x)        CHECK("!(" #x ")", !(x))
#define assert_null(x)         CHECK(#x " == NULL", !(x))
#define assert_non_null(x)     CHECK(#x " != NULL", x)
#define assert_ptr_equal(a, b) CHECK(#a " == " #b, (const void *)(a) == (const void *)(b))
#define assert_int_equal(a, b)                                                                     \
	check_integers(__FILE__, __LINE__, (const char *[]){#a, #b}, (intmax_t)(a), (intmax_t)(b))
#define assert_int_not_equal(a, b)    CHECK(#a " != " #b, (intmax_t)(a) != (intmax_t)(b))
#define assert_string_equal(a, b)     check_strings(__FILE__, __LINE__, #a, a, b)
#define assert_string_not_equal(a, b) CHECK(#a " is not " #b, strcmp(a, b))
#define assert_memory_equal(a, b, n)  check_bytes(__FILE__, __LINE__, #a, a, b, n)
#define assert_in_range(x, least, most)                                                            \
	check_range(__FILE__, __LINE__, #x, (uintmax_t)(x), (uintmax_t)(least), (uintmax_t)(most))

enum { CHECK_MAX = 40 };

__attribute__((unused)) static struct CMUnitTest check_tests[CHECK_MAX];
__attribute__((unused)) static int check_lines[CHECK_MAX], check_count;

/* Not every platform calls constructors in the order of the file. */
static inline void check_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
							 CMFixtureFunction tear_down, int line)
{
	int at = check_count++;
	if (at == CHECK_MAX)
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
	check_end(_cmocka_run_group_tests("tests", check_tests, (size_t)check_count, set_up, tear_down))
#define RUN_TESTS(set_up, tear_down)                                                               \
	TEST_PROGRAM                                                                                   \
	{                                                                                              \
		return RUN_GROUP(set_up, tear_down);                                                       \
	}

/* Returns the memory, which stays until the program ends: no test frees it. */
void *keep(void *memory);

/* Sets the time of the last write, in nanoseconds since 1970. */
void check_set_mtime(const char *path, int64_t mtime_ns);

/* Says why the program skips tests. Returns the exit status that ctest reports as "skipped". */
int check_skip(const char *reason);
