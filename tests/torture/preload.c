/* torture.so: preloaded into a program, it lets one call of the C library fail, or ends the process
 * before it. By variables:
 *
 *     TORTURE=fail:N    the N-th counted call fails, as such a call may: EIO, ENOSPC, …
 *     TORTURE=kill:N    the process is killed before it
 *     TORTURE=count     none fails; each is logged
 *     TORTURE_WORKERS=1 counts in those whose first argument is “worker”, and not in the others;
 *                       one of them is struck
 *     TORTURE_CALLS=A,B counts these calls alone, by the names of the table in calls.h; default all
 *     TORTURE_PATH=TEXT counts calls alone whose path has this text in it
 *     TORTURE_LOG=FILE  to which is appended what was counted or has failed: NUMBER CALL PATH
 *
 * Counting begins with main(), so that what the loader and constructors do does not count. No call
 * that tells of an error is held back for ever: a close that fails has closed. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

static int log_fd = -1;
static bool in_workers;

/* Says whether this is the one worker that is struck: the first one to make a file beside the log.
 * */
static bool is_first(void)
{
	char path[TORTURE_MAX_PATH];

	if (!in_workers)
		return true;
	(void)snprintf(path, sizeof path, "%s.struck", getenv("TORTURE_LOG"));
	return syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
}

static bool note(unsigned long number, const char *call, const char *path)
{
	char line[TORTURE_MAX_PATH + 64];
	int length = snprintf(line, sizeof line, "%lu %s %s\n", number, call, path);

	if (log_fd >= 0)
		(void)!syscall(SYS_write, log_fd, line, (size_t)length);
	return true;
}

static bool note_first(unsigned long number, const char *call, const char *path)
{
	return is_first() && note(number, call, path);
}

static bool is_meant(int argc, char **argv)
{
	char exe[TORTURE_MAX_PATH];
	ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof exe - 1);
	const char *name;

	exe[length > 0 ? length : 0] = '\0';
	name = strrchr(exe, '/');
	in_workers = getenv("TORTURE_WORKERS") != NULL;
	return name && !strcmp(name + 1, "jitwarm") &&
		   in_workers == (argc > 1 && !strcmp(argv[1], "worker"));
}

static void arm(int argc, char **argv)
{
	static const char *const names[] = {
		[TORTURE_COUNT] = "count", [TORTURE_FAIL] = "fail", [TORTURE_KILL] = "kill"};
	const char *text = getenv("TORTURE"), *file = getenv("TORTURE_LOG");
	const char *number = text ? strchr(text, ':') : NULL;
	struct torture torture = {.wanted = number ? strtoul(number + 1, NULL, 10) : 0,
							  .calls = getenv("TORTURE_CALLS"),
							  .path_part = getenv("TORTURE_PATH")};

	if (!text || !is_meant(argc, argv))
		return;
	for (enum torture_mode each = TORTURE_COUNT; each <= TORTURE_KILL; each++)
		if (!strncmp(text, names[each], strlen(names[each])))
			torture.mode = each;
	torture.strikes = torture.mode == TORTURE_COUNT ? note : note_first;
	if (file)
		log_fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
							  0600);
	torture_begin(&torture);
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

/* libuv ends the process if a new loop cannot make its first pipe; os_loop_open has just made some.
 */
struct uv_loop_s;
int uv_loop_init(struct uv_loop_s *loop);
int uv_loop_init(struct uv_loop_s *loop)
{
	REAL(uv_loop_init);
	int result;

	torture_spares = true;
	result = real(loop);
	torture_spares = false;
	return result;
}
