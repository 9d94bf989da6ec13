/* watch.so: preloaded into programs under NVIDIA's own drivers, it writes down what happens to the
 * driver's cache: one line each in the file $WATCH_LOG.
 *
 *     wait PID TOTAL-MS JITWARM-MS   a lock that was not to be had at once: how long it took, and
 * how much of that a process called jitwarm held it gone PID PATH                  a file below a
 * cache was removed (evicted, or wiped)
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int fcntl_fn(int fd, int command, ...);
typedef int unlink_fn(const char *path);

static _Thread_local double waiting_since, last_try, jitwarm_ms;
static _Thread_local bool by_jitwarm;

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void find(const char *name, void *ret_function)
{
	void *address = dlsym(RTLD_NEXT, name);

	memcpy(ret_function, &address, sizeof address);
}

static void note(const char *format, ...)
{
	const char *path = getenv("WATCH_LOG");
	char line[4200];
	va_list list;
	int fd, size;

	va_start(list, format);
	size = vsnprintf(line, sizeof line, format, list);
	va_end(list);
	fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	if (fd >= 0 && size > 0 && write(fd, line, (size_t)size) != size)
		abort();
	if (fd >= 0)
		(void)close(fd);
}

/* Whether the process that holds the lock is a jitwarm. */
static bool is_held_by_jitwarm(fcntl_fn *real, int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[64], name[32] = "";
	FILE *file;

	if (real(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
		return false;
	(void)snprintf(path, sizeof path, "/proc/%d/comm", (int)lock.l_pid);
	file = fopen(path, "r");
	if (file && !fgets(name, sizeof name, file))
		name[0] = 0;
	if (file)
		(void)fclose(file);
	return !strncmp(name, "jitwarm", 7);
}

/* Each try that fails adds the time since the one before to whoever held the lock then. */
static void tried(fcntl_fn *real, int fd, bool held)
{
	double now = now_ms();

	if (waiting_since > 0 && by_jitwarm)
		jitwarm_ms += now - last_try;
	if (held && waiting_since > 0)
		note("wait %d %.2f %.2f\n", (int)getpid(), now - waiting_since, jitwarm_ms);
	if (held) {
		waiting_since = jitwarm_ms = 0;
		by_jitwarm = false;
		return;
	}
	if (waiting_since <= 0)
		waiting_since = now;
	last_try = now;
	by_jitwarm = is_held_by_jitwarm(real, fd);
}

static int locked(fcntl_fn *real, int fd, int command, void *argument)
{
	const struct flock *lock = argument;
	int result = real(fd, command, argument), saved = errno;

	if (command == F_SETLK && lock->l_type != F_UNLCK &&
		(!result || saved == EAGAIN || saved == EACCES))
		tried(real, fd, !result);
	errno = saved;
	return result;
}

int fcntl(int fd, int command, ...)
{
	static fcntl_fn *real;
	va_list list;
	void *argument;

	if (!real)
		find("fcntl", &real);
	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	return locked(real, fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
	static fcntl_fn *real;
	va_list list;
	void *argument;

	if (!real)
		find("fcntl64", &real);
	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	return locked(real, fd, command, argument);
}

static int removed(const char *name, const char *path)
{
	unlink_fn *real;
	int result;

	find(name, &real);
	result = real(path);
	if (!result)
		note("gone %d %s\n", (int)getpid(), path);
	return result;
}

int unlink(const char *path)
{
	return removed("unlink", path);
}

int remove(const char *path)
{
	return removed("remove", path);
}
