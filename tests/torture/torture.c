/* Counts calls of the C library, and makes the chosen one fail. */
#include "torture.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"

enum { MAX_PATH_BYTES = TORTURE_MAX_PATH, MAX_FILES = 64 };

static struct torture now;
static bool chosen[CALLS];
static atomic_ulong counted;
static atomic_bool armed;
static _Thread_local bool is_first_thread;
_Thread_local bool torture_spares;

static size_t path_of(int fd, char to[MAX_PATH_BYTES])
{
	char link[64];
	ssize_t length;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = syscall(SYS_readlinkat, AT_FDCWD, link, to, MAX_PATH_BYTES - 1);
	length = length > 0 ? length : 0;
	to[length] = '\0';
	return (size_t)length;
}

/* Returns the path of a file, which it asks the kernel for only once: writing the path takes ten
 * times as long as identifying the file, and is most of a trial's time. Only one thread calls this.
 * */
static const char *known_path_of(int fd)
{
	static struct {
		struct stat stat;
		char path[MAX_PATH_BYTES];
	} known[MAX_FILES];
	const size_t at = (size_t)fd % MAX_FILES;
	struct stat stat = {0};

	(void)syscall(SYS_fstat, fd, &stat);
	if (known[at].stat.st_dev != stat.st_dev || known[at].stat.st_ino != stat.st_ino ||
		memcmp(&known[at].stat.st_ctim, &stat.st_ctim, sizeof stat.st_ctim) != 0) {
		known[at].stat = stat;
		(void)path_of(fd, known[at].path);
	}
	return known[at].path;
}

/* Completes a path that is NULL or relative with the path of `fd`. */
static const char *whole_path(char to[MAX_PATH_BYTES], const char *path, int fd)
{
	size_t length;

	if (fd < 0 || (path && *path == '/'))
		return path ? path : "";
	if (now.is_own && (!path || !*path))
		return known_path_of(fd);
	length = path_of(fd, to);
	(void)snprintf(to + length, MAX_PATH_BYTES - length, "%s%s", path && *path ? "/" : "",
				   path ? path : "");
	return to;
}

/* Says whether a call may fail. It may not if no kernel lets it fail, if it writes messages, if
 * libuv ends the process, or if it keeps a measurement of this machine: jitwarm measures again, and
 * works by its model until then. */
static bool may_fail_here(enum which which, const char *path, int fd)
{
	const char *name = strrchr(path, '/');

	return which != PIPE && fd != STDERR_FILENO && strncmp(path, "pipe:", 5) != 0 &&
		   strncmp(path, "anon_inode:", 11) != 0 && strncmp(path, "socket:", 7) != 0 &&
		   (!name || (strcmp(name, "/state.json") != 0 && strcmp(name, "/state-lock") != 0));
}

static bool tell(unsigned long number, const char *call, const char *path)
{
	const bool before = is_first_thread;
	bool strikes;

	is_first_thread = false; /* calls in between do not count */
	strikes = now.strikes(number, call, path);
	is_first_thread = before;
	return strikes;
}

static bool is_struck(enum which which, const char *path, int fd)
{
	char real_path[MAX_PATH_BYTES], from[MAX_PATH_BYTES];
	unsigned long number;

	path = whole_path(real_path, path, fd);
	if ((now.path_part && !strstr(path, now.path_part) && (*path || !now.is_own)) ||
		(now.is_own && !may_fail_here(which, path, fd)))
		return false;
	number = atomic_fetch_add(&counted, 1) + 1;
	if (now.mode == TORTURE_COUNT) {
		(void)tell(number, calls[which].name, path);
		if (which == RENAME && !now.is_own)
			(void)tell(number, "from", whole_path(from, renamed_from, renamed_in));
		return false;
	}
	if (number != now.wanted)
		return false;
	atomic_store(&armed, false);
	return tell(number, calls[which].name, path);
}

static bool strike(enum which which, const char *path, int fd)
{
	const int before = errno;
	bool struck;

	if (!atomic_load_explicit(&armed, memory_order_relaxed) || !chosen[which] ||
		(now.is_own && !is_first_thread) || (torture_spares && which == PIPE))
		return false;
	struck = is_struck(which, path, fd);
	if (struck && now.mode == TORTURE_KILL)
		(void)syscall(SYS_kill, getpid(), SIGKILL);
	errno = !struck ? before : now.error ? now.error : calls[which].error;
	return struck;
}

static bool is_listed(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list; at && (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return !list;
}

void torture_begin(const struct torture *torture)
{
	now = *torture;
	for (size_t i = 0; i < CALLS; i++)
		chosen[i] = is_listed(now.calls, calls[i].name);
	atomic_store(&counted, 0);
	is_first_thread = now.is_own;
	atomic_store(&armed, now.mode != TORTURE_OFF);
}

void torture_end(void)
{
	atomic_store(&armed, false);
}
