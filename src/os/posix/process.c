#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/posix/posix.h"
#include "os/process.h"

int os_become_program(struct jw_error *err, const char *const *arguments)
{
	union {
		const char *const *given;
		char *const *wanted; /* execvp's prototype; it does not write to them */
	} list = {.given = arguments};

	(void)signal(SIGXFSZ, SIG_DFL);
	(void)execvp(arguments[0], list.wanted);
	return posix_error(err, arguments[0]);
}

/* Runs in the child between fork and exec, so it makes only calls that POSIX allows there. `report`
 * carries the reason of a failure; exec closes it. */
static void become(const char *program, const char *const *arguments, char **environment,
				   const char *folder, int in, int out, int report, pid_t parent)
{
	union {
		const char *const *given;
		char *const *wanted; /* execve's prototype; it does not write to them */
	} list = {.given = arguments};
	int reason;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	/* os_prepare_limits ignores it for this process only. */
	(void)signal(SIGXFSZ, SIG_DFL);
	if ((!folder || !chdir(folder)) && dup2(in, STDIN_FILENO) >= 0 &&
		dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0)
		(void)execve(program, list.wanted, environment ? environment : environ);
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

static int start(struct jw_error *err, const char *const *arguments, char **environment,
				 const char *folder, int in, int out, pid_t *ret_child)
{
	int report[2], reason = 0;
	pid_t child, parent = getpid();
	char *program; /* from `folder`, a relative path would lead elsewhere */
	ssize_t got;

	if (pipe2(report, O_CLOEXEC))
		return posix_error(err, arguments[0]);
	if (os_absolute(err, arguments[0], &program)) {
		(void)close(report[0]);
		(void)close(report[1]);
		return -1;
	}
	child = fork();
	if (!child)
		become(program, arguments, environment, folder, in, out, report[1], parent);
	(void)close(report[1]);
	mem_free(program);
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
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? posix_error(err, path) : fd;
}

int os_run(struct jw_error *err, const char *const *arguments, char **environment,
		   const char *folder, const char *output, struct os_ended *ret_ended)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), result = -1;
	int out = in < 0 ? posix_error(err, "/dev/null") : open_output(err, output);
	pid_t child = -1;

	if (out >= 0)
		result = start(err, arguments, environment, folder, in, out, &child);
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
	/* If the parent ended before the call above, this process now belongs to init, or to a
	 * subreaper. */
	if (getppid() != parent)
		_exit(1);
}

void os_limit_memory(int pid, uint64_t most_bytes)
{
	struct rlimit memory;

	if (prlimit(pid, RLIMIT_DATA, NULL, &memory) || memory.rlim_cur <= most_bytes)
		return;
	memory.rlim_cur = (rlim_t)most_bytes;
	(void)prlimit(pid, RLIMIT_DATA, &memory, NULL);
}

void os_end_now(int status)
{
	_exit(status);
}

void os_crash_quietly(void)
{
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

void os_guard_new_files(void)
{
	(void)umask((mode_t)os_creation_mask());
}

void os_hear_children(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

char *os_system_program(struct jw_error *err, const char *name)
{
	char *found = os_program_on_path(name);

	if (!found)
		error_set(err, JW_ERR_NOT_FOUND, "%s: no such program on PATH", name);
	return found;
}

char *os_system_text(const char *printed)
{
	return mem_string(printed);
}

char *os_find_program(struct jw_error *err, const char *name)
{
	(void)err;
	return mem_string(name);
}

bool os_is_whole_path(const char *path)
{
	return os_is_absolute(path);
}

char *os_cuda_toolkit(unsigned major, unsigned minor)
{
	return major ? mem_printf("/usr/local/cuda-%u.%u", major, minor)
				 : mem_string("/usr/local/cuda");
}

int os_python_registered(struct jw_error *err, char **ret_prefix)
{
	(void)ret_prefix;
	return error_set(err, JW_ERR_NOT_FOUND, "no register of Python installations here");
}

int os_python_each(struct jw_error *err,
				   int (*take)(struct jw_error *err, void *context, const char *prefix),
				   void *context)
{
	(void)err;
	(void)take;
	(void)context;
	return 0;
}

char **os_arguments(int *argc, char **argv, const char *kept)
{
	(void)argc;
	(void)kept;
	return argv;
}

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
static struct sigaction action_before[sizeof passed_on / sizeof *passed_on];
static volatile sig_atomic_t receiver;
static sigset_t mask_before;
static bool held;

void os_hold_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		(void)sigaddset(&set, passed_on[i]);
	held = !pthread_sigmask(SIG_BLOCK, &set, &mask_before);
}

static void take_signals_back(void)
{
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		(void)sigaction(passed_on[i], &action_before[i], NULL);
}

/* Passes a signal on. Signals from the terminal come from the kernel and reach every process in the
 * foreground. A signal that arrives just after the receiver has ended is meant for this process. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	const int kept = errno;

	(void)context;
	if (receiver > 0 && info->si_code <= 0 && kill((pid_t)receiver, number) && errno == ESRCH) {
		take_signals_back();
		(void)raise(number); /* the signal is delivered when this function returns */
	}
	errno = kept;
}

void os_forward_signals(int pid)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
	const bool forwards = receiver > 0;

	if (pid <= 0 && forwards)
		take_signals_back(); /* first: a signal must not go to a process that has ended */
	receiver = pid;
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; pid > 0 && i < sizeof passed_on / sizeof *passed_on; i++)
		(void)sigaction(passed_on[i], &action, forwards ? NULL : &action_before[i]);
	if (held)
		(void)pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
	held = false;
}

enum { ECHO_MS = 500 };

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t interrupted; /* the number of the signal that interrupted us */
static struct timespec first;             /* only the first signal writes it */

/* The second signal has the default effect, so that kill -9 is never needed. But timeout(1) and
 * similar programs signal the process and then its group, so that one request comes twice: a signal
 * that follows at once is the same request. The signals block each other meanwhile. */
static void note_signal(int number)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (!interrupted) {
		first = now;
		interrupted = number;
	} else if ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 >=
			   ECHO_MS) {
		(void)signal(number, SIG_DFL);
		(void)raise(number); /* the signal is delivered when this function returns */
	}
}

void os_catch_interrupts(void)
{
	struct sigaction action = {.sa_handler = note_signal}, before;

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		(void)sigaddset(&action.sa_mask, caught[i]);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
		/* Under nohup(1), a closed terminal does not concern this process. */
		bool ignored = caught[i] == SIGHUP && !sigaction(SIGHUP, NULL, &before) &&
					   before.sa_handler == SIG_IGN;

		if (!ignored)
			(void)sigaction(caught[i], &action, NULL);
	}
}

bool os_interrupted(void)
{
	return interrupted != 0;
}

int os_interrupt_status(void)
{
	return interrupted ? 128 + interrupted : 0;
}

void os_ignore_interrupts(void)
{
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
}

int os_stop_signal(void)
{
	struct sigaction action;

	return !sigaction(SIGTSTP, NULL, &action) && action.sa_handler == SIG_DFL ? SIGTSTP : 0;
}

void os_stop_self(void)
{
	(void)raise(SIGSTOP);
}

void os_pause_process(int pid, bool paused)
{
	(void)kill(pid, paused ? SIGSTOP : SIGCONT);
}

void os_ignore_broken_pipes(void)
{
	struct sigaction action;

	if (!sigaction(SIGPIPE, NULL, &action) && action.sa_handler == SIG_DFL)
		(void)signal(SIGPIPE, SIG_IGN);
}
