/* The process that speaks to a shared place: what waits for one answer holds up no other request.
 */
#include "folder.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <jitwarm/share.h>

#include "driver/protocol.h"

/* Less than a request may take */
enum { PATIENCE_MS = 6000 };

static int listen_here(char address[64])
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof here;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&here, size) | listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &size), 0);
	(void)snprintf(address, 64, "http://127.0.0.1:%u/lab", ntohs(here.sin_port));
	return fd;
}

static void write_line(int fd, struct buf *line)
{
	assert_int_equal(write(fd, line->data, line->size), line->size);
	buf_free(line);
}

TEST(a_slow_answer_holds_up_no_other_request)
{
	struct jw_system machine = {.state_dir = folder, .driver.stamp = "Jun 25 202401:14:48"};
	struct jw_share_options options = {.allow_unsigned = true, .insecure = true};
	const struct object_setup setup = {folder, &machine, &options};
	struct buf line = BUF_MAX(PROTOCOL_MOST_LINE);
	char address[64];
	const int listening = listen_here(address);
	int to[2], from[2];
	pid_t worker;

	assert_int_equal(pipe(to) | pipe(from), 0);
	worker = fork();
	if (!worker) {
		(void)(dup2(to[0], STDIN_FILENO) + dup2(from[1], STDOUT_FILENO));
		(void)close(to[1]);
		_exit(jw_share_worker_main());
	}
	options.place = address;
	OK(object_put_setup(why, &line, &setup));
	write_line(to[1], &line);
	for (uint64_t id = 0; id < 3; id++) {
		const struct object_job job = {
			.id = id, .what = OBJECT_LOOK, .key = 1 + id, .sm = 86, .most_bytes = 1 << 20};
		struct pollfd asked = {.fd = listening, .events = POLLIN};

		line = BUF_MAX(PROTOCOL_MOST_LINE);
		OK(object_put_job(why, &line, &job));
		write_line(to[1], &line);
		assert_int_equal(poll(&asked, 1, PATIENCE_MS), 1);
		/* It is never answered. */
		assert_true(accept(listening, NULL, NULL) >= 0);
	}
	(void)kill(worker, SIGKILL);
	assert_int_equal(waitpid(worker, NULL, 0), worker);
	(void)(close(to[0]) + close(to[1]) + close(from[0]) + close(from[1]) + close(listening));
}

RUN_TESTS(make_folder, remove_folder)
