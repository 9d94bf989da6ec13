#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/posix/at.h"
#include "os/posix/posix.h"

/* Runs in the child between fork and exec: only calls that POSIX allows there. `report` passes the
 * reason of a failure; exec closes it. */
static void become(const char *const *arguments, int in, int out, int report, pid_t parent)
{
	union {
		const char *const *given;
		char *const *wanted; /* execvp's prototype; it does not write to them */
	} list = {.given = arguments};
	int reason;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	/* os_prepare_limits ignores it for this process only. */
	(void)signal(SIGXFSZ, SIG_DFL);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
		dup2(out, STDERR_FILENO) >= 0)
		(void)execvp(arguments[0], list.wanted);
	reason = errno;
	(void)!write(report, &reason, sizeof reason);
	_exit(127);
}

static double milliseconds(const struct timeval *time)
{
	return (double)time->tv_sec * 1000 + (double)time->tv_usec / 1000;
}

static int await_child(struct jw_error *err, const char *name, pid_t child,
					   struct os_ended *ret_ended)
{
	struct rusage usage = {0};
	int status;

	while (wait4(child, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return posix_error(err, name);
	*ret_ended = (struct os_ended){
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.peak_bytes = (uint64_t)usage.ru_maxrss * 1024,
		.cpu_ms = milliseconds(&usage.ru_utime) + milliseconds(&usage.ru_stime),
	};
	return 0;
}

static int start(struct jw_error *err, const char *const *arguments, int in, int out,
				 pid_t *ret_child)
{
	int report[2], reason = 0;
	pid_t child, parent = getpid();
	ssize_t got;

	if (pipe2(report, O_CLOEXEC))
		return posix_error(err, arguments[0]);
	child = fork();
	if (!child)
		become(arguments, in, out, report[1], parent);
	(void)close(report[1]);
	do
		got = child < 0 ? -1 : read(report[0], &reason, sizeof reason);
	while (got < 0 && child > 0 && errno == EINTR);
	(void)close(report[0]);
	if (child < 0)
		return posix_error(err, arguments[0]);
	if (got > 0) {
		(void)waitpid(child, NULL, 0);
		errno = reason;
		return posix_error(err, arguments[0]);
	}
	*ret_child = child;
	return 0;
}

static int open_output(struct jw_error *err, const char *path)
{
	struct at at;
	int fd;

	if (at_enter(err, path, AT_LAST_FOLLOWED, &at))
		return -1;
	fd = at_open(&at, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		posix_error(err, path);
	at_leave(&at);
	return fd;
}

int os_run(struct jw_error *err, const char *const *arguments, const char *output,
		   struct os_ended *ret_ended)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open_output(err, output), result = -1;
	pid_t child = -1;

	if (in < 0)
		posix_error(err, "/dev/null");
	else if (out >= 0)
		result = start(err, arguments, in, out, &child);
	if (in >= 0)
		(void)close(in);
	if (out >= 0)
		(void)close(out);
	return result ? -1 : await_child(err, arguments[0], child, ret_ended);
}

void os_die_with_parent(void)
{
	pid_t parent = getppid();

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* If the parent ended before the call above, this process belongs to init, or to a subreaper.
	 */
	if (getppid() != parent)
		_exit(1);
}

void os_end_now(int status)
{
	_exit(status);
}

void os_crash_quietly(void)
{
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}
