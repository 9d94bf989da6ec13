/* Intercepts C library calls of the driver: the client makes its locks fail, as some network file
 * systems do. A program's own functions take precedence over those of libraries. */
#include "suite.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* <fcntl.h> would declare both functions. */
enum { SET_LOCK = 6 };
typedef int control_fn(int fd, int command, ...);
__attribute__((visibility("default"))) control_fn fcntl, fcntl64;

static int lock_error, refused;

int locks_fail_with(int error)
{
	int count = refused;

	lock_error = error;
	refused = 0;
	return count;
}

static int control(const char *name, int fd, int command, void *argument)
{
	void *found = dlsym(RTLD_NEXT, name);
	control_fn *real;

	if (lock_error && command == SET_LOCK) {
		refused++;
		errno = lock_error;
		return -1;
	}
	memcpy(&real, &found, sizeof real);
	return real(fd, command, argument);
}

/* The third argument is one word, or the command does not use it. */
int fcntl(int fd, int command, ...)
{
	void *argument;
	va_list list;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	return control("fcntl", fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
	void *argument;
	va_list list;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	return control("fcntl64", fd, command, argument);
}
