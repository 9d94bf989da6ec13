/* The calls of the system that starve lets fail. Only the C library's own declarations may be seen
 * here: with those of large files two names were one. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "starve.h"

enum { MOST_PATH = STARVE_PATH, MOST_FILES = 64 };
int starve_error;
_Thread_local char starve_path[MOST_PATH];

/* What was learnt about this machine: jitwarm learns it again, and works by its model until then */
static bool is_learnt(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strcmp(name, "/devices.json") || !strcmp(name, "/speed.json"));
}

/* Of each file once: to have the kernel write its path takes ten times as long as to ask which file
 * it is, and is the most of all that a trial does. Only one thread comes here. */
static void find_path(int fd)
{
	static struct {
		struct stat stat;
		char path[MOST_PATH];
	} known[MOST_FILES];
	const size_t at = (size_t)fd % MOST_FILES;
	struct stat stat = {0};
	char link[64];
	ssize_t length;

	(void)syscall(SYS_fstat, fd, &stat);
	if (known[at].stat.st_dev != stat.st_dev || known[at].stat.st_ino != stat.st_ino ||
		memcmp(&known[at].stat.st_ctim, &stat.st_ctim, sizeof stat.st_ctim) != 0) {
		known[at].stat = stat;
		(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		length = syscall(SYS_readlinkat, AT_FDCWD, link, known[at].path, MOST_PATH - 1);
		known[at].path[length > 0 ? length : 0] = '\0';
	}
	strcpy(starve_path, known[at].path);
}

/* What no kernel lets fail, and what messages are written to, does not count. */
static bool may_fail(const char *path, int fd)
{
	const char *within = getenv("STARVE_PATH");

	if (fd == STDERR_FILENO)
		return false;
	(void)snprintf(starve_path, sizeof starve_path, "%s", path ? path : "");
	if (!*starve_path && fd >= 0)
		find_path(fd);
	path = path ? path : starve_path;
	/* libuv ends the process where its own pipes cannot be read. */
	return strncmp(path, "pipe:", 5) && strncmp(path, "anon_inode:", 11) &&
		   strncmp(path, "socket:", 7) && !is_learnt(path) &&
		   (!within || !*path || strstr(path, within));
}

static bool strike(enum which which, const char *path, int fd)
{
	const int before = errno;
	/* libuv ends the process where it gets no pipe for signals. */
	const bool struck =
		which != PIPE && starve_waits() && may_fail(path, fd) && starve_strikes(calls[which].name);

	errno = struck ? (starve_error ? starve_error : calls[which].error) : before;
	return struck;
}
