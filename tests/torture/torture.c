/* torture.so: preloaded into a program, it lets one call of the C library fail, or ends the process
 * before it.
 *
 *     TORTURE=fail:N    the N-th counted call fails, as such a call may: ENOMEM, EIO, ENOSPC,
 * ENOLCK, EAGAIN, EMFILE TORTURE=eintr:N   with EINTR, where a signal may interrupt such a call;
 * the others go on TORTURE=kill:N    the process is killed before it TORTURE=count     none fails;
 * each is logged TORTURE_OF=NAME   counts in processes of the program with this name alone; default
 * jitwarm TORTURE_WORKERS=1 counts in those whose first argument is “worker”, and not in the
 * others. One of them is struck TORTURE_CALLS=A,B counts these calls alone, by the names of the
 * table in `calls`; default all TORTURE_PATH=TEXT counts calls alone whose path has this text in it
 *     TORTURE_LOG=FILE  to which is appended what was counted or has failed: NUMBER CALL PATH
 *
 * Counting begins with main(), so that what the loader and constructors do does not count. No call
 * that tells of an error is held back for ever: a close that fails has closed. */
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"

enum mode { OFF, COUNT, FAIL, INTERRUPT, KILL };

enum { MOST_PATH = 4096 };

static enum mode mode;
static unsigned long wanted;
static atomic_ulong counted;
static atomic_bool armed;
static bool chosen[CALLS];
static const char *path_part;
static int log_fd = -1;
static bool in_workers;

static void note(unsigned long number, const char *call, const char *path)
{
	char line[MOST_PATH + 64];
	int length = snprintf(line, sizeof line, "%lu %s %s\n", number, call, path);

	if (log_fd >= 0)
		(void)!syscall(SYS_write, log_fd, line, (size_t)length);
}

/* Where a path is NULL or relative, what `fd` is comes before it. */
static const char *whole_path(char *to, const char *path, int fd)
{
	const int before = errno;
	char link[64];
	ssize_t length;

	if (fd < 0 || (path && *path == '/'))
		return path ? path : "";
	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = syscall(SYS_readlinkat, AT_FDCWD, link, to, MOST_PATH - 1);
	length = length > 0 ? length : 0;
	(void)snprintf(to + length, (size_t)(MOST_PATH - length), "%s%s", path && *path ? "/" : "",
				   path ? path : "");
	errno = before;
	return to;
}

/* Of all workers one is struck: the first that makes a file beside the log. */
static bool is_first(void)
{
	char path[MOST_PATH];

	if (!in_workers)
		return true;
	(void)snprintf(path, sizeof path, "%s.struck", getenv("TORTURE_LOG"));
	return syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
}

/* glibc's NSS ends the process where its own memory runs out (2.36: a signal, an assertion), and
 * libuv where a new loop cannot make or watch its first pipe; os_loop_open has just made some. */
static _Thread_local bool is_spared;

static bool strike(enum which which, const char *path, int fd)
{
	char real_path[MOST_PATH], from[MOST_PATH];
	unsigned long number;

	if (!atomic_load_explicit(&armed, memory_order_relaxed) || !chosen[which] ||
		(is_spared && (which == ALLOC || which == PIPE)) ||
		(mode == INTERRUPT && !calls[which].interruptible))
		return false;
	path = path_part || log_fd >= 0 ? whole_path(real_path, path, fd) : "";
	if (path_part && !strstr(path, path_part))
		return false;
	number = atomic_fetch_add(&counted, 1) + 1;
	if (mode == COUNT)
		note(number, calls[which].name, path);
	if (mode == COUNT && which == RENAME)
		note(number, "from", whole_path(from, renamed_from, renamed_in));
	if (mode == COUNT || number != wanted || !is_first())
		return false;
	note(number, calls[which].name, path);
	if (mode == KILL)
		(void)syscall(SYS_kill, getpid(), SIGKILL);
	errno = mode == INTERRUPT ? EINTR : calls[which].error;
	return true;
}

/* ---- which processes, from when on */

static bool is_meant(int argc, char **argv)
{
	const char *of = getenv("TORTURE_OF");
	char exe[MOST_PATH];
	ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof exe - 1);
	const char *name;

	exe[length > 0 ? length : 0] = '\0';
	name = strrchr(exe, '/');
	in_workers = getenv("TORTURE_WORKERS") != NULL;
	return name && !strcmp(name + 1, of ? of : "jitwarm") &&
		   in_workers == (argc > 1 && !strcmp(argv[1], "worker"));
}

static bool is_listed(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list; at && (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return !list;
}

static void arm(int argc, char **argv)
{
	static const char *const names[] = {
		[COUNT] = "count", [FAIL] = "fail", [INTERRUPT] = "eintr", [KILL] = "kill"};
	const char *text = getenv("TORTURE"), *file = getenv("TORTURE_LOG");
	const char *number = text ? strchr(text, ':') : NULL;

	if (!text || !is_meant(argc, argv))
		return;
	for (enum mode each = COUNT; each <= KILL; each++)
		if (!strncmp(text, names[each], strlen(names[each])))
			mode = each;
	wanted = number ? strtoul(number + 1, NULL, 10) : 0;
	path_part = getenv("TORTURE_PATH");
	for (size_t i = 0; i < CALLS; i++)
		chosen[i] = is_listed(getenv("TORTURE_CALLS"), calls[i].name);
	if (file)
		log_fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
							  0600);
	atomic_store(&armed, mode != OFF);
}

typedef int main_fn(int argc, char **argv, char **environment);
static main_fn *real_main;

static int armed_main(int argc, char **argv, char **environment)
{
	arm(argc, argv);
	return real_main(argc, argv, environment);
}

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
					  void (*rtld_fini)(void), void *stack_end)
{
	int (*real)(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

	*(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
	real_main = main;
	return real(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- memory */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool strike_memory(void)
{
	return strike(ALLOC, "", -1);
}

int getpwuid_r(uid_t owner, struct passwd *entry, char *text, size_t size, struct passwd **found)
{
	REAL(getpwuid_r);
	int result;

	is_spared = true;
	result = real(owner, entry, text, size, found);
	is_spared = false;
	return result;
}

struct uv_loop_s;
int uv_loop_init(struct uv_loop_s *loop);
int uv_loop_init(struct uv_loop_s *loop)
{
	REAL(uv_loop_init);
	int result;

	is_spared = true;
	result = real(loop);
	is_spared = false;
	return result;
}

void *malloc(size_t size)
{
	return strike_memory() ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
	return strike_memory() ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size)
{
	return strike_memory() ? NULL : __libc_realloc(old, size);
}
