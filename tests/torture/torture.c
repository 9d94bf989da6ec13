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
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { OFF, COUNT, FAIL, INTERRUPT, KILL };

static const struct call {
	const char *name;
	int error;
	bool interruptible;
} calls[] = {
	{"alloc", ENOMEM, false}, {"open", EIO, true},     {"create", ENOSPC, true},
	{"read", EIO, true},      {"write", ENOSPC, true}, {"rename", EIO, false},
	{"fsync", EIO, false},    {"mmap", ENOMEM, false}, {"mkdir", ENOSPC, false},
	{"lock", ENOLCK, true},   {"unlink", EIO, false},  {"close", EIO, false},
	{"stat", EIO, false},     {"fork", EAGAIN, false}, {"readdir", EIO, false},
	{"resize", EIO, false},   {"mode", EPERM, false},  {"pipe", EMFILE, false},
};
enum { CALLS = sizeof calls / sizeof *calls, MOST_PATH = 4096 };
enum which {
	ALLOC,
	OPEN,
	CREATE,
	READ,
	WRITE,
	RENAME,
	FSYNC,
	MMAP,
	MKDIR,
	LOCK,
	UNLINK,
	CLOSE,
	STAT,
	FORK,
	READDIR,
	RESIZE,
	MODE,
	PIPE
};

static enum mode mode;
static unsigned long wanted;
static atomic_ulong counted;
static atomic_bool armed;
static bool chosen[CALLS];
static const char *path_part;
static int log_fd = -1;
static bool in_workers;

#define REAL(name)                                                                                 \
	static __typeof__(name) *real;                                                                 \
	if (!real)                                                                                     \
	real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static void note(unsigned long number, enum which which, const char *path)
{
	char line[MOST_PATH + 64];
	int length = snprintf(line, sizeof line, "%lu %s %s\n", number, calls[which].name, path);

	if (log_fd >= 0)
		(void)!syscall(SYS_write, log_fd, line, (size_t)length);
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

/* Whether this call fails; errno is set. `fd` stands for the path where that is NULL. */
static bool strike(enum which which, const char *path, int fd)
{
	char link[64], real_path[MOST_PATH] = "";
	const int before = errno;
	unsigned long number;
	ssize_t length;

	if (!atomic_load_explicit(&armed, memory_order_relaxed) || !chosen[which] ||
		(mode == INTERRUPT && !calls[which].interruptible))
		return false;
	if (!path && fd >= 0 && (path_part || mode == COUNT || log_fd >= 0)) {
		(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		length = syscall(SYS_readlink, link, real_path, sizeof real_path - 1);
		real_path[length > 0 ? length : 0] = '\0';
		errno = before;
	}
	path = path ? path : real_path;
	if (path_part && !strstr(path, path_part))
		return false;
	number = atomic_fetch_add(&counted, 1) + 1;
	if (mode == COUNT)
		note(number, which, path);
	if (mode == COUNT || number != wanted || !is_first())
		return false;
	note(number, which, path);
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
	ssize_t length = syscall(SYS_readlink, "/proc/self/exe", exe, sizeof exe - 1);
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

void *malloc(size_t size)
{
	return strike(ALLOC, "", -1) ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
	return strike(ALLOC, "", -1) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size)
{
	return strike(ALLOC, "", -1) ? NULL : __libc_realloc(old, size);
}

/* ---- files */

static bool strike_open(const char *path, int flags)
{
	return strike(flags & O_CREAT ? CREATE : OPEN, path, -1);
}

#define OPEN_BODY(name, path, ...)                                                                 \
	REAL(name);                                                                                    \
	va_list list;                                                                                  \
	mode_t rights;                                                                                 \
	va_start(list, flags);                                                                         \
	rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                             \
	va_end(list);                                                                                  \
	return strike_open(path, flags) ? -1 : real(__VA_ARGS__, rights)

int open(const char *path, int flags, ...)
{
	OPEN_BODY(open, path, path, flags);
}
int open64(const char *path, int flags, ...)
{
	OPEN_BODY(open64, path, path, flags);
}
int openat(int dir, const char *path, int flags, ...)
{
	OPEN_BODY(openat, path, dir, path, flags);
}
int openat64(int dir, const char *path, int flags, ...)
{
	OPEN_BODY(openat64, path, dir, path, flags);
}

#define CALL(type, failed, which, path, fd, name, parameters, ...)                                 \
	type name parameters                                                                           \
	{                                                                                              \
		REAL(name);                                                                                \
		return strike(which, path, fd) ? failed : real(__VA_ARGS__);                               \
	}

CALL(FILE *, NULL, OPEN, path, -1, fopen, (const char *path, const char *how), path, how)
CALL(FILE *, NULL, OPEN, path, -1, fopen64, (const char *path, const char *how), path, how)
CALL(DIR *, NULL, OPEN, path, -1, opendir, (const char *path), path)
CALL(DIR *, NULL, OPEN, NULL, fd, fdopendir, (int fd), fd)
CALL(struct dirent *, NULL, READDIR, NULL, dirfd(dir), readdir, (DIR * dir), dir)
CALL(struct dirent64 *, NULL, READDIR, NULL, dirfd(dir), readdir64, (DIR * dir), dir)
CALL(ssize_t, -1, READ, NULL, fd, read, (int fd, void *to, size_t size), fd, to, size)
CALL(ssize_t, -1, READ, NULL, fd, pread, (int fd, void *to, size_t size, off_t at), fd, to, size,
	 at)
CALL(ssize_t, -1, READ, NULL, fd, pread64, (int fd, void *to, size_t size, off64_t at), fd, to,
	 size, at)
CALL(ssize_t, -1, READ, NULL, fd, readv, (int fd, const struct iovec *to, int count), fd, to, count)
CALL(ssize_t, -1, READ, NULL, fd, preadv, (int fd, const struct iovec *to, int count, off_t at), fd,
	 to, count, at)
CALL(ssize_t, -1, WRITE, NULL, fd, write, (int fd, const void *from, size_t size), fd, from, size)
CALL(ssize_t, -1, WRITE, NULL, fd, pwrite, (int fd, const void *from, size_t size, off_t at), fd,
	 from, size, at)
CALL(ssize_t, -1, WRITE, NULL, fd, pwrite64, (int fd, const void *from, size_t size, off64_t at),
	 fd, from, size, at)
CALL(ssize_t, -1, WRITE, NULL, fd, writev, (int fd, const struct iovec *from, int count), fd, from,
	 count)
CALL(ssize_t, -1, WRITE, NULL, fd, pwritev, (int fd, const struct iovec *from, int count, off_t at),
	 fd, from, count, at)
CALL(int, -1, RENAME, to, -1, rename, (const char *from, const char *to), from, to)
CALL(int, -1, RENAME, to, -1, renameat, (int a, const char *from, int b, const char *to), a, from,
	 b, to)
CALL(int, -1, FSYNC, NULL, fd, fsync, (int fd), fd)
CALL(int, -1, FSYNC, NULL, fd, fdatasync, (int fd), fd)
CALL(void *, MAP_FAILED, MMAP, NULL, fd, mmap,
	 (void *at, size_t size, int rights, int flags, int fd, off_t from), at, size, rights, flags,
	 fd, from)
CALL(void *, MAP_FAILED, MMAP, NULL, fd, mmap64,
	 (void *at, size_t size, int rights, int flags, int fd, off64_t from), at, size, rights, flags,
	 fd, from)
CALL(int, -1, MKDIR, path, -1, mkdir, (const char *path, mode_t rights), path, rights)
CALL(int, -1, MKDIR, path, -1, mkdirat, (int dir, const char *path, mode_t rights), dir, path,
	 rights)
CALL(char *, NULL, MKDIR, path, -1, mkdtemp, (char *path), path)
CALL(int, -1, LOCK, NULL, fd, flock, (int fd, int how), fd, how)
CALL(int, -1, UNLINK, path, -1, unlink, (const char *path), path)
CALL(int, -1, UNLINK, path, -1, unlinkat, (int dir, const char *path, int flags), dir, path, flags)
CALL(int, -1, UNLINK, path, -1, rmdir, (const char *path), path)
CALL(int, -1, STAT, path, -1, stat, (const char *path, struct stat *to), path, to)
CALL(int, -1, STAT, path, -1, stat64, (const char *path, struct stat64 *to), path, to)
CALL(int, -1, STAT, path, -1, lstat, (const char *path, struct stat *to), path, to)
CALL(int, -1, STAT, path, -1, lstat64, (const char *path, struct stat64 *to), path, to)
CALL(int, -1, STAT, NULL, fd, fstat, (int fd, struct stat *to), fd, to)
CALL(int, -1, STAT, NULL, fd, fstat64, (int fd, struct stat64 *to), fd, to)
CALL(int, -1, STAT, path, -1, fstatat, (int dir, const char *path, struct stat *to, int flags), dir,
	 path, to, flags)
CALL(int, -1, STAT, path, -1, fstatat64, (int dir, const char *path, struct stat64 *to, int flags),
	 dir, path, to, flags)
CALL(int, -1, STAT, path, -1, statx,
	 (int dir, const char *path, int flags, unsigned mask, struct statx *to), dir, path, flags,
	 mask, to)
CALL(int, -1, RESIZE, NULL, fd, ftruncate, (int fd, off_t size), fd, size)
CALL(int, -1, RESIZE, NULL, fd, ftruncate64, (int fd, off64_t size), fd, size)
CALL(int, -1, MODE, NULL, fd, fchmod, (int fd, mode_t rights), fd, rights)
CALL(int, -1, MODE, path, -1, fchmodat, (int dir, const char *path, mode_t rights, int flags), dir,
	 path, rights, flags)
CALL(int, -1, PIPE, "", -1, pipe2, (int ends[2], int flags), ends, flags)
CALL(pid_t, -1, FORK, "", -1, fork, (void))

int close(int fd)
{
	REAL(close);
	const bool failed = strike(CLOSE, NULL, fd);
	const int error = errno;

	if (!failed)
		return real(fd);
	(void)real(fd);
	errno = error;
	return -1;
}

#define FCNTL_BODY(name)                                                                           \
	REAL(name);                                                                                    \
	va_list list;                                                                                  \
	void *argument;                                                                                \
	va_start(list, command);                                                                       \
	argument = va_arg(list, void *);                                                               \
	va_end(list);                                                                                  \
	return (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) &&                \
				   strike(LOCK, NULL, fd)                                                          \
			   ? -1                                                                                \
			   : real(fd, command, argument)

int fcntl(int fd, int command, ...)
{
	FCNTL_BODY(fcntl);
}
int fcntl64(int fd, int command, ...)
{
	FCNTL_BODY(fcntl64);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	REAL(posix_spawn);
	return strike(FORK, path, -1) ? EAGAIN
								  : real(pid, path, actions, attributes, argv, environment);
}

int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
				 const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	REAL(posix_spawnp);
	return strike(FORK, path, -1) ? EAGAIN
								  : real(pid, path, actions, attributes, argv, environment);
}
