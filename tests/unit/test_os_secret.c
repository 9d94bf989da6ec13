/* A question at a terminal, in a separate process with a separate terminal. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <sys/wait.h>

#include "os/console.h"

enum { UNASKED = 3, HANGS_S = 60 };

/* The end status of a process that asks at its terminal `path`. */
static void ask(const char *path)
{
	char word[8];

	(void)setsid();
	if (open(path, O_RDWR) < 0)
		_exit(UNASKED);
	(void)alarm(HANGS_S);
	if (os_ask_secret(NULL, "?", word, sizeof word) || strcmp(word, "word") != 0)
		_exit(1);
	_exit(0);
}

static bool by_keys;

static int open_terminal(void)
{
	struct termios settings;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	assert_true(terminal >= 0);
	assert_int_equal(grantpt(terminal), 0);
	assert_int_equal(unlockpt(terminal), 0);
	assert_int_equal(tcgetattr(terminal, &settings), 0);
	if (by_keys)
		settings.c_lflag &= ~(tcflag_t)ICANON;
	assert_int_equal(tcsetattr(terminal, TCSANOW, &settings), 0);
	return terminal;
}

static bool shows_what_is_typed(int terminal)
{
	struct termios settings;

	assert_int_equal(tcgetattr(terminal, &settings), 0);
	return settings.c_lflag & ECHO;
}

/* Input before the question is dropped, so the text is typed again until the process reads it. */
static int typed(const char *text)
{
	int terminal = open_terminal(), status = 0;
	pid_t child, typist;

	child = fork();
	if (!child)
		ask(ptsname(terminal));
	typist = fork();
	while (!typist) {
		for (const char *key = text; *key && !shows_what_is_typed(terminal); key++)
			if (write(terminal, key, 1) < 0 || usleep(1000))
				_exit(1);
		(void)usleep(10000);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(kill(typist, SIGKILL), 0);
	assert_int_equal(waitpid(typist, NULL, 0), typist);
	assert_true(shows_what_is_typed(terminal));
	assert_int_equal(close(terminal), 0);
	return status;
}

TEST(test_typed_text_is_returned)
{
	int status = typed("word\n");

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(test_ctrl_c_ends_the_program_once_the_terminal_echoes)
{
	int status = typed("wo\3");

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

/* As a program that reads keys leaves it when it is killed */
TEST(test_a_line_is_read_where_the_terminal_gives_keys)
{
	int status;

	by_keys = true;
	status = typed("word\n");
	by_keys = false;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

RUN_TESTS(NULL, NULL)
