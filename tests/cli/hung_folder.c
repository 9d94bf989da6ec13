/* For the case “folder” (LD_PRELOAD), this imitates a folder on a server that never answers: a
 * process that opens a file in FAKE_HUNG_FOLDER waits forever. The file FAKE_HUNG_MARK gets
 * a byte each time; if FAKE_CRASHED_FOLDER is set, the process ends instead. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_or_hang(int dir, const char *path, int flags, mode_t mode)
{
	const char *hung = getenv("FAKE_HUNG_FOLDER"), *mark = getenv("FAKE_HUNG_MARK");
	char link[64], whole[8192] = "";

	if (path[0] != '/' && dir >= 0) {
		ssize_t length;

		(void)snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
		length = readlink(link, whole, sizeof whole - 1);
		whole[length > 0 ? length : 0] = '\0';
	}
	(void)snprintf(whole + strlen(whole), sizeof whole - strlen(whole), "/%s", path);
	if (!hung || !strstr(whole, hung) || !strstr(path, ".j"))
		return (int)syscall(SYS_openat, dir, path, flags, mode);
	if (getenv("FAKE_CRASHED_FOLDER"))
		abort();
	if (mark) {
		const int file =
			(int)syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_APPEND | O_WRONLY, 0600);

		if (write(file, "x", 1) == 1)
			(void)close(file);
	}
	for (;;)
		(void)pause();
}

#define HANGS(name, first, dir)                                                                    \
	__attribute__((visibility("default"))) int name(first const char *path, int flags, ...)        \
	{                                                                                              \
		va_list more;                                                                              \
		mode_t mode;                                                                               \
                                                                                                   \
		va_start(more, flags);                                                                     \
		mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;                                         \
		va_end(more);                                                                              \
		return open_or_hang(dir, path, flags, mode);                                               \
	}

/* libuv and the C library use one or the other. */
#define DIR_FIRST int dir_fd,
HANGS(openat64, DIR_FIRST, dir_fd)
HANGS(open64, , AT_FDCWD)
