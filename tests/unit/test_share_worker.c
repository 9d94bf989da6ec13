/* The process that reads and writes a shared folder: an object that never answers delays no other
 * request. */
#include "folder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jitwarm/share.h>

#include "driver/protocol.h"

enum { PATIENCE_MS = 6000, HANGING = 3, SM = 86 };

/* Replaces the C library's function: three objects are on a server that does not answer. */
__attribute__((visibility("default"))) int openat64(int dir, const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	while (strstr(path, "000001.") || strstr(path, "000002.") || strstr(path, "000003."))
		(void)pause();
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

static void send_line(int fd, struct buf *line)
{
	assert_int_equal(write(fd, line->data, line->size), line->size);
	buf_free(line);
	*line = BUF_MAX(PROTOCOL_MAX_LINE);
}

TEST(an_object_that_hangs_holds_up_no_other_request)
{
	struct jw_system machine = {.state_dir = folder, .driver.stamp = "Jun 25 202401:14:48"};
	struct jw_share_options options = {.allow_unsigned = true, .folder = folder};
	const struct object_setup setup = {folder, &machine, &options};
	struct buf line = BUF_MAX(PROTOCOL_MAX_LINE);
	struct pollfd answered;
	struct object_answer answer;
	char text[PROTOCOL_MAX_LINE];
	int to[2], from[2];
	ssize_t got;
	pid_t worker;

	assert_int_equal(pipe(to) | pipe(from), 0);
	worker = fork();
	if (!worker) {
		(void)(dup2(to[0], STDIN_FILENO) + dup2(from[1], STDOUT_FILENO));
		(void)close(to[1]);
		_exit(jw_share_worker_main());
	}
	OK(object_put_setup(why, &line, &setup));
	send_line(to[1], &line);
	for (uint64_t key = 1; key <= HANGING + 1; key++) {
		const struct object_job job = {
			.id = key, .what = OBJECT_CLAIM, .key = key, .sm = SM, .most_bytes = 1 << 20};

		OK(object_put_job(why, &line, &job));
		send_line(to[1], &line);
	}
	answered = (struct pollfd){.fd = from[0], .events = POLLIN};
	assert_int_equal(poll(&answered, 1, PATIENCE_MS), 1);
	got = read(from[0], text, sizeof text);
	assert_true(got > 1 && text[got - 1] == '\n');
	OK(object_get_answer(why, text, (size_t)got - 1, &answer));
	assert_int_equal(answer.id, HANGING + 1);
	assert_int_equal(answer.said, OBJECT_OURS);
	(void)kill(worker, SIGKILL);
	assert_int_equal(waitpid(worker, NULL, 0), worker);
	(void)(close(to[0]) + close(to[1]) + close(from[0]) + close(from[1]));
	buf_free(&line);
}

RUN_TESTS(make_folder, remove_folder)
