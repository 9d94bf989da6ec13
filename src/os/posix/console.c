#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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

/* Source: POSIX, "Environment Variables": the first of these that is set and not empty. */
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
	/* As in gettext: LANGUAGE counts only where a language is wanted. "C" and "POSIX" fail below */
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

/* The terminal must echo again when the program ends or pauses, so signals are blocked until it
 * does. They are unblocked only while the program waits for input: a signal just before a read
 * would not end the read. */
static volatile sig_atomic_t caught;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

struct held {
	struct sigaction handlers[NUMBERS];
	sigset_t mask;
};

static void note_caught(int number)
{
	caught = number;
}

static void hold_signals(struct held *ret_before)
{
	const struct sigaction action = {.sa_handler = note_caught};
	struct sigaction *before = ret_before->handlers;
	sigset_t ours;

	caught = 0;
	(void)sigemptyset(&ours);
	for (size_t i = 0; i < NUMBERS; i++)
		(void)sigaddset(&ours, numbers[i]);
	(void)sigprocmask(SIG_BLOCK, &ours, &ret_before->mask);
	for (size_t i = 0; i < NUMBERS; i++)
		if (!sigaction(numbers[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], &action, NULL);
}

/* Reads a line of at most size - 1 bytes; drops the rest of a longer one. */
static int read_line(int fd, const sigset_t *mask, char *line, size_t size)
{
	struct pollfd typed = {.fd = fd, .events = POLLIN};
	size_t length = 0;
	char c;

	for (;;) {
		ssize_t got;

		while (ppoll(&typed, 1, NULL, mask) < 0)
			if (errno != EINTR || caught)
				return -1;
		got = read(fd, &c, 1);
		if (got < 0 || (!got && !length))
			return -1;
		if (!got || c == '\n' || c == '\r')
			break;
		if (length + 1 < size)
			line[length++] = c;
	}
	line[length] = '\0';
	return 0;
}

int os_ask_secret(struct jw_error *err, const char *question, char *ret_line, size_t size)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY), result;
	struct termios before, silent;
	struct held signals;

	if (fd < 0 || tcgetattr(fd, &before)) {
		if (fd >= 0)
			(void)close(fd);
		return error_set(err, JW_ERR_NOT_FOUND, "no terminal to ask at");
	}
	hold_signals(&signals);
	silent = before;
	silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
	if (write(fd, question, strlen(question)) < 0)
		(void)tcflush(fd, TCOFLUSH);
	(void)tcsetattr(fd, TCSAFLUSH, &silent);
	result = read_line(fd, &signals.mask, ret_line, size);
	(void)tcsetattr(fd, TCSAFLUSH, &before);
	if (write(fd, "\n", 1) < 0)
		(void)tcflush(fd, TCOFLUSH);
	(void)close(fd);
	for (size_t i = 0; i < NUMBERS; i++)
		(void)sigaction(numbers[i], &signals.handlers[i], NULL);
	(void)sigprocmask(SIG_SETMASK, &signals.mask, NULL);
	if (caught)
		(void)raise(caught);
	return result ? error_set(err, JW_ERR_INTERRUPTED, "interrupted") : 0;
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
