/* A worker reads the jobs that are available on standard input without waiting for more. */
#include "check.h"

#include <string.h>

#include <uv.h>

#include "os/console.h"

static void put(uv_file fd, const char *text)
{
	OK(os_fd_write(why, fd, text, strlen(text)));
}

static void close_end(uv_file fd)
{
	uv_fs_t request;

	OK(uv_fs_close(NULL, &request, fd, NULL));
	uv_fs_req_cleanup(&request);
}

TEST(available_input_is_read_without_waiting)
{
	uv_file ends[2];
	char text[16] = "";
	size_t got = 0;

	assert_int_equal(uv_pipe(ends, 0, 0), 0);
	put(ends[1], "one\ntwo");
	OK(os_fd_read_some(why, ends[0], text, sizeof text, &got));
	assert_int_equal(got, 7);
	assert_memory_equal(text, "one\ntwo", 7);
	put(ends[1], "\nthree");
	OK(os_fd_read_some(why, ends[0], text, 4, &got));
	assert_int_equal(got, 4);
	close_end(ends[1]);
	OK(os_fd_read_some(why, ends[0], text, sizeof text, &got));
	assert_int_equal(got, 2);
	OK(os_fd_read_some(why, ends[0], text, sizeof text, &got));
	assert_int_equal(got, 0);
	close_end(ends[0]);
}

RUN_TESTS(NULL, NULL)
