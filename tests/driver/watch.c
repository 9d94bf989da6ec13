/* watch.so: preloaded into programs under NVIDIA's own drivers, it logs what happens to the
 * driver's cache: one line each in the file $WATCH_LOG.
 *
 * "wait PID TOTAL JITWARM": a lock that was not free at once; the milliseconds until it was taken,
 * and for how many of them a process called jitwarm held it and worked or slept. The time that
 * either process waited for a processor is left out if the system reports it.
 *
 * "turned-away PID TOTAL JITWARM": the same for a lock that the driver gave up.
 *
 * "gone PID PATH": a file below a cache was removed (evicted, or wiped). */
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
typedef int close_fn(int fd);
typedef int fclose_fn(FILE *file);

static _Thread_local double waiting_since, last_try, last_idle, jitwarm_ms;
static _Thread_local int waiting_fd, jitwarm_pid; /* jitwarm_pid: the holder at the last try */

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

/* Returns the process that holds the lock, if it is a jitwarm. */
static int find_jitwarm(fcntl_fn *real, int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[64], name[32] = "";
	FILE *file;

	if (real(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
		return 0;
	(void)snprintf(path, sizeof path, "/proc/%d/comm", (int)lock.l_pid);
	file = fopen(path, "r");
	if (file && !fgets(name, sizeof name, file))
		name[0] = 0;
	if (file)
		(void)fclose(file);
	return !strncmp(name, "jitwarm", 7) ? (int)lock.l_pid : 0;
}

/* Returns the time in which a thread was runnable without a processor: the second number in its
 * schedstat file, `path`. */
static double unserved_ms(const char *path)
{
	unsigned long long ran, waited;
	FILE *file = fopen(path, "r");
	int count = file ? fscanf(file, "%llu %llu", &ran, &waited) : 0;

	if (file)
		(void)fclose(file);
	return count == 2 ? (double)waited / 1e6 : 0;
}

static double idle_ms(int pid)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/schedstat", pid);
	return unserved_ms(path) + unserved_ms("/proc/thread-self/schedstat");
}

/* The time since the last try is charged to the holder at that try. */
static void count(double now)
{
	double idle = jitwarm_pid ? idle_ms(jitwarm_pid) - last_idle : 0, took = now - last_try;

	if (jitwarm_pid && took > idle)
		jitwarm_ms += idle > 0 ? took - idle : took;
}

static void end(const char *how, double now)
{
	note("%s %d %.2f %.2f\n", how, (int)getpid(), now - waiting_since, jitwarm_ms);
	waiting_since = jitwarm_ms = 0;
	jitwarm_pid = 0;
}

static void tried(fcntl_fn *real, int fd, bool held)
{
	double now = now_ms();

	if (waiting_since > 0)
		count(now);
	if (held) {
		if (waiting_since > 0)
			end("wait", now);
		return;
	}
	if (waiting_since <= 0)
		waiting_since = now;
	waiting_fd = fd;
	jitwarm_pid = find_jitwarm(real, fd);
	last_idle = jitwarm_pid ? idle_ms(jitwarm_pid) : 0;
	last_try = now;
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

/* A driver closes a file whose lock it did not get. */
static void closing(int fd)
{
	if (waiting_since > 0 && fd == waiting_fd)
		end("turned-away", now_ms());
}

int close(int fd)
{
	static close_fn *real;

	if (!real)
		find("close", &real);
	closing(fd);
	return real(fd);
}

int fclose(FILE *file)
{
	static fclose_fn *real;

	if (!real)
		find("fclose", &real);
	closing(fileno(file));
	return real(file);
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
