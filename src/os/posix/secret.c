#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "os/posix/posix.h"
#include "os/system.h"

/* A line of at most size - 1 bytes; the rest of a longer one is dropped. */
static int read_line(int fd, char *line, size_t size)
{
	size_t length = 0;
	char c;

	for (;;) {
		ssize_t got = read(fd, &c, 1);

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

/* Who ends or stops the program meanwhile wants a terminal that shows what is typed: signals wait
 * until it does again. */
static volatile sig_atomic_t caught;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void note(int number)
{
	caught = number;
}

static void hold_signals(struct sigaction before[NUMBERS])
{
	const struct sigaction action = {.sa_handler = note};

	caught = 0;
	for (size_t i = 0; i < NUMBERS; i++)
		if (!sigaction(numbers[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], &action, NULL);
}

static void release_signals(const struct sigaction before[NUMBERS])
{
	for (size_t i = 0; i < NUMBERS; i++)
		(void)sigaction(numbers[i], &before[i], NULL);
	if (caught)
		(void)raise(caught);
}

int os_ask_secret(struct jw_error *err, const char *question, char *ret_line, size_t size)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY), result;
	struct sigaction handlers[NUMBERS];
	struct termios before, silent;

	if (fd < 0 || tcgetattr(fd, &before)) {
		if (fd >= 0)
			(void)close(fd);
		return error_set(err, JW_ERR_NOT_FOUND, "no terminal to ask at");
	}
	hold_signals(handlers);
	silent = before;
	silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
	if (write(fd, question, strlen(question)) < 0)
		(void)tcflush(fd, TCOFLUSH);
	(void)tcsetattr(fd, TCSAFLUSH, &silent);
	result = read_line(fd, ret_line, size);
	(void)tcsetattr(fd, TCSAFLUSH, &before);
	if (write(fd, "\n", 1) < 0)
		(void)tcflush(fd, TCOFLUSH);
	(void)close(fd);
	release_signals(handlers);
	return result ? error_set(err, JW_ERR_INTERRUPTED, "interrupted") : 0;
}
