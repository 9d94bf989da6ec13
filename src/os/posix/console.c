#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <sys/ioctl.h>

#include "os/console.h"
#include "os/posix/posix.h"

unsigned os_terminal_columns(int fd)
{
	struct winsize size;

	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

/* The first of these that is set and not empty decides. Source: POSIX, "Environment Variables". */
bool os_prints_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *value = NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names && (!value || !*value); i++)
		value = getenv(names[i]);
	return value && (strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8") ||
					 strstr(value, "UTF8"));
}

bool os_language(char ret_name[OS_LANGUAGE])
{
	static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
	const char *value = NULL, *list = getenv("LANGUAGE");

	for (size_t i = 0; i < sizeof names / sizeof *names && (!value || !*value); i++)
		value = getenv(names[i]);
	/* As in gettext, LANGUAGE counts only if the locale wants a language. "C" and "POSIX" fail
	 * below. */
	if (value && *value && strncmp(value, "C.", 2) != 0 && strcmp(value, "C") != 0 &&
		strcmp(value, "POSIX") != 0 && list && *list)
		value = list;
	if (!value || strcspn(value, "_.@:") != OS_LANGUAGE - 1)
		return false;
	memcpy(ret_name, value, OS_LANGUAGE - 1);
	ret_name[OS_LANGUAGE - 1] = 0;
	return true;
}

void os_terminal_prepare(void)
{
}

bool os_terminal_write(int fd, const char *text, size_t size)
{
	(void)fd;
	(void)text;
	(void)size;
	return false;
}

void os_keep_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Linux calls a pipe writable if one of its pages is free. */
bool os_fd_takes(int fd, int wait_ms)
{
	struct pollfd asked = {.fd = fd, .events = POLLOUT};

	return poll(&asked, 1, wait_ms) > 0;
}

bool os_has_terminal(int fd)
{
	const pid_t group = tcgetpgrp(fd);

	return group < 0 || group == getpgrp(); /* -1: not this session's terminal, which has no jobs */
}

int os_take_stdout(struct jw_error *err, int *ret_fd)
{
	int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return posix_error(err, "stdout");
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		(void)close(copy);
		return posix_error(err, "stdout");
	}
	*ret_fd = copy;
	return 0;
}
