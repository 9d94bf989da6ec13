/* A length that no memory has ends the program, and writes nothing: a subtraction of two places in
 * the wrong order gives such a length. Each case is a separate process. */
#include "check.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

enum { ENDED = 3 };

/* The address sanitizer ends a program that asks for that much, unless it is told otherwise. */
__attribute__((visibility("default"))) const char *
__asan_default_options(void);            /* NOLINT(bugprone-reserved-identifier): its own name */
const char *__asan_default_options(void) /* NOLINT(bugprone-reserved-identifier) */
{
	return "allocator_may_return_null=1";
}

/* volatile: the compiler knows no length, and warns of none */
static volatile size_t all_bytes = SIZE_MAX;

static void copy_all(void)
{
	mem_free(mem_string_n("x", all_bytes));
}

static void allocate_all(void)
{
	mem_free(mem_array(all_bytes, 2));
}

static void allocate_more_than_there_is(void)
{
	mem_free(mem_alloc(all_bytes / 2));
}

static void resize_to_more_than_there_is(void)
{
	mem_free(mem_resize(NULL, all_bytes / 2));
}

static void reserve_all(void)
{
	struct buf buf = BUF_MAX(all_bytes);

	(void)buf_append(NULL, &buf, "x", all_bytes);
	buf_free(&buf);
}

static void reserve_behind(void)
{
	struct buf buf = BUF_MAX(all_bytes);

	(void)buf_append(NULL, &buf, "x", 1);
	(void)buf_append(NULL, &buf, "x", all_bytes - 1);
	buf_free(&buf);
}

static void grow_beyond_all(void)
{
	void *array = NULL;
	size_t capacity = 0;

	(void)mem_room(NULL, &array, &capacity, all_bytes - 1, 1, all_bytes);
}

TEST(a_length_that_wraps_ends_the_program)
{
	static void (*const lives[])(void) = {copy_all,
										  allocate_all,
										  allocate_more_than_there_is,
										  resize_to_more_than_there_is,
										  reserve_all,
										  reserve_behind,
										  grow_beyond_all};

	for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
		pid_t child = fork();
		int status = 0;

		assert_true(child >= 0);
		if (!child) {
			(void)dup2(open("/dev/null", O_WRONLY), 2);
			lives[i]();
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), ENDED);
	}
}

RUN_TESTS(NULL, NULL)
