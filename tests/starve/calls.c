/* The calls of the system that starve lets fail. Only the C library's own declarations may be seen
 * here: with those of large files two names were one. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "starve.h"

enum { MOST_PATH = 4096 };

/* What was learnt about this machine: jitwarm learns it again, and works by its model until then.
 */
static bool is_learnt(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strcmp(name, "/devices.json") || !strcmp(name, "/speed.json"));
}

/* What no kernel lets fail, and what messages are written to, does not count. */
static bool may_fail(const char *path, int fd)
{
	const char *within = getenv("STARVE_PATH");
	char link[64], real_path[MOST_PATH] = "";
	ssize_t length;

	if (fd == STDERR_FILENO)
		return false;
	if (!path && fd >= 0) {
		(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		length = syscall(SYS_readlinkat, AT_FDCWD, link, real_path, sizeof real_path - 1);
		real_path[length > 0 ? length : 0] = '\0';
	}
	path = path ? path : real_path;
	/* libuv ends the process where its own pipes cannot be read. */
	return strncmp(path, "pipe:", 5) && strncmp(path, "anon_inode:", 11) &&
		   strncmp(path, "socket:", 7) && !is_learnt(path) &&
		   (!within || !*path || strstr(path, within));
}

static bool strike(enum which which, const char *path, int fd)
{
	const int before = errno;
	/* libuv ends the process where it gets no pipe for signals. */
	const bool struck = which != PIPE && may_fail(path, fd) && starve_strikes(calls[which].name);

	errno = struck ? calls[which].error : before;
	return struck;
}
