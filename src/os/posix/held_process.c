#include "os/posix/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/text.h"
#include "os/posix/posix.h"

/* Who has entered another process's files sees no other process there. One of its own, which stays
 * outside with root's rights, opens for it what the system shows of that process's descendants
 * (maps, stat, task, and of its threads stat and children), and nothing else. */
enum { MOST_GENERATIONS = 32 };

struct wish {
	int pid;
	char name[64];
};

/* Room for one open file, aligned as the system wants it. */
union passed_file {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* Ours: the end at which files are asked for; -1: nobody shows any. */
static int asking = -1;

/* ---- the process that shows them */

/* "task/12/stat", "task/12/children" */
static bool is_of_thread(const char *name)
{
	const char *number = name + strlen("task/"), *rest;

	if (!text_starts(name, "task/"))
		return false;
	rest = number + strspn(number, "0123456789");
	return rest > number && (!strcmp(rest, "/stat") || !strcmp(rest, "/children"));
}

static bool is_shown(const char *name)
{
	return !strcmp(name, "maps") || !strcmp(name, "stat") || !strcmp(name, "task") ||
		   is_of_thread(name);
}

static int open_folder(int pid)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int parent_in(int folder)
{
	char text[512];
	const int fd = openat(folder, "stat", O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	const char *rest;
	int parent = 0;

	if (fd >= 0)
		(void)close(fd);
	text[size > 0 ? size : 0] = '\0';
	rest = strrchr(text, ')');
	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own number */
	return rest && sscanf(rest, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Whether the process in `folder` descends from `first`. */
static bool descends(int folder, int first)
{
	int parent = parent_in(folder);

	for (int i = 0; i < MOST_GENERATIONS && parent > 1 && parent != first; i++) {
		const int above = open_folder(parent);

		parent = above < 0 ? 0 : parent_in(above);
		if (above >= 0)
			(void)close(above);
	}
	return parent == first;
}

static int open_shown(const struct wish *wish, int first)
{
	const int folder = wish->pid > 0 && is_shown(wish->name) ? open_folder(wish->pid) : -1;
	const int fd = folder >= 0 && descends(folder, first)
					   ? openat(folder, wish->name, O_RDONLY | O_CLOEXEC)
					   : -1;

	if (folder >= 0)
		(void)close(folder);
	return fd;
}

static void give_file(int to, int fd)
{
	char one = 1;
	union passed_file room = {.bytes = {0}};
	struct iovec text = {&one, 1};
	struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = room.bytes;
		message.msg_controllen = sizeof room.bytes;
		room.head.cmsg_level = SOL_SOCKET;
		room.head.cmsg_type = SCM_RIGHTS;
		room.head.cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(&room.head), &fd, sizeof fd);
	}
	(void)sendmsg(to, &message, MSG_NOSIGNAL);
}

/* Ends with the process that asks, whichever way that ends. */
static _Noreturn void show_asked(int asked, int first)
{
	struct wish wish;

	/* Who interrupts jitwarm means the other one. */
	(void)prctl(PR_SET_NAME, "jitwarm-show", 0, 0, 0);
	(void)signal(SIGINT, SIG_IGN);
	while (recv(asked, &wish, sizeof wish, 0) == (ssize_t)sizeof wish) {
		int fd;

		wish.name[sizeof wish.name - 1] = '\0';
		fd = open_shown(&wish, first);
		give_file(asked, fd);
		if (fd >= 0)
			(void)close(fd);
	}
	_exit(0);
}

/* ---- the process that asks */

/* Starts it, for the descendants of `first`. It ends with this process. */
static int show_processes_begin(struct jw_error *err, int first)
{
	int ends[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return posix_error(err, "looking at other processes");
	child = fork();
	if (!child) {
		(void)close(ends[0]);
		show_asked(ends[1], first);
	}
	(void)close(ends[1]);
	if (child < 0) {
		posix_error(err, "looking at other processes");
		(void)close(ends[0]);
		return -1;
	}
	asking = ends[0];
	return 0;
}

/* Opens /proc/PID/NAME: -1 with errno where it is none of these, or none was started. */
static int show_processes_open(int pid, const char *name)
{
	struct wish wish = {.pid = pid};
	union passed_file room = {.bytes = {0}};
	char one;
	struct iovec text = {&one, 1};
	struct msghdr message = {.msg_iov = &text,
							 .msg_iovlen = 1,
							 .msg_control = room.bytes,
							 .msg_controllen = sizeof room.bytes};
	int fd = -1;

	text_copy(wish.name, sizeof wish.name, name);
	if (asking >= 0 && send(asking, &wish, sizeof wish, MSG_NOSIGNAL) == (ssize_t)sizeof wish &&
		recvmsg(asking, &message, MSG_CMSG_CLOEXEC) == 1 &&
		message.msg_controllen >= CMSG_LEN(sizeof fd) && room.head.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&room.head), sizeof fd);
	if (fd < 0)
		errno = ENOENT;
	return fd;
}

/* ---- the one process */

/* What is open of the one process that is still to be seen from among other files; those that it
 * has started are shown by another one. Of /proc itself nothing stays open: root
 * of a container may write there, and is root here. */
static struct {
	int pid, folder;
	/* They are read again and again. Who may open them is asked once, and has no right later. */
	int maps, stat;
} held = {0, -1, -1, -1};

int posix_hold_process(struct jw_error *err, int pid)
{
	char path[64];
	int folder, maps = -1, stat = -1;

	(void)snprintf(path, sizeof path, "/proc/%d", pid);
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		maps = openat(folder, "maps", O_RDONLY | O_CLOEXEC);
	if (maps >= 0)
		stat = openat(folder, "stat", O_RDONLY | O_CLOEXEC);
	if (stat >= 0 && !show_processes_begin(err, pid)) {
		held.pid = pid;
		held.folder = folder;
		held.maps = maps;
		held.stat = stat;
		return 0;
	}
	if (errno == ENOENT || errno == ESRCH)
		error_set(err, JW_ERR_NOT_FOUND, "there is no process %d", pid);
	else
		posix_error(err, path);
	if (stat >= 0)
		(void)close(stat);
	if (maps >= 0)
		(void)close(maps);
	if (folder >= 0)
		(void)close(folder);
	return -1;
}

int posix_open_of_process(int pid, const char *name)
{
	char path[320];

	if (held.pid && pid != held.pid)
		return show_processes_open(pid, name);
	if (held.pid)
		return openat(held.folder, name, O_RDONLY | O_CLOEXEC);
	(void)snprintf(path, sizeof path, "/proc/%d/%.250s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool posix_link_of_process(int pid, const char *name, char *room, size_t size)
{
	char path[320];
	ssize_t length = -1;

	(void)snprintf(path, sizeof path, "/proc/%d/%.250s", pid, name);
	if (!held.pid)
		length = readlink(path, room, size);
	else if (pid == held.pid)
		length = readlinkat(held.folder, name, room, size);
	if (length < 0 || (size_t)length >= size)
		return false;
	room[length] = '\0';
	return true;
}

int posix_read_of_process(struct jw_error *err, int pid, const char *name, struct buf *text)
{
	enum { STEP = 64 << 10 };
	const bool kept =
		held.pid && pid == held.pid && (!strcmp(name, "maps") || !strcmp(name, "stat"));
	const int fd = !kept                   ? posix_open_of_process(pid, name)
				   : !strcmp(name, "maps") ? held.maps
										   : held.stat;
	ssize_t got = 1;
	int result = 0;

	buf_clear(text);
	while (fd >= 0 && !result && got > 0) {
		result = buf_reserve(err, text, STEP);
		if (result)
			break;
		do
			got = pread(fd, text->data + text->size, STEP, (off_t)text->size);
		while (got < 0 && errno == EINTR);
		if (got > 0)
			text->size += (size_t)got;
	}
	if (fd >= 0 && !kept)
		(void)close(fd);
	return result ? -1 : buf_append(err, text, "", 0);
}
