/* Another process's variables are taken only if they decide about code. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jitwarm/doctor.h>

/* Starts a process of that account with these variables, which waits. */
static pid_t start_process_as(uid_t account, char *const *environment)
{
	char sleep_name[] = "sleep", seconds[] = "60";
	char *const words[] = {sleep_name, seconds, NULL};
	char none, path[64];
	int ends[2];
	pid_t child;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		if (!setresuid(account, account, account))
			(void)execve("/bin/sleep", words, environment);
		_exit(127);
	}
	(void)close(ends[1]);
	/* The process's end of the pipe is closed when the program begins, just before it has its
	 * variables. */
	assert_int_equal(read(ends[0], &none, 1), 0);
	(void)close(ends[0]);
	(void)snprintf(path, sizeof path, "/proc/%d/environ", (int)child);
	for (size_t got = 0; *environment && !got;) {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		got = fread(&none, 1, 1, file);
		(void)fclose(file);
	}
	return child;
}

static pid_t start_process(char *const *environment)
{
	return start_process_as(geteuid(), environment);
}

/* A driver loads the library named by CUDA_INJECTION64_PATH, and writes files that other variables
 * name; such variables of another program are not taken. */
TEST(only_what_decides_about_code_is_taken)
{
	char environment[][64] = {"CUDA_INJECTION64_PATH=/tmp/evil.so",
							  "CUDA_COREDUMP_FILE=/tmp/evil",
							  "CUDA_MPS_PIPE_DIRECTORY=/tmp/evil",
							  "PATH=/tmp/evil",
							  "CUDA_CACHE_DISABLE=1",
							  "CUDA_FORCE_JIT=1",
							  "CUDA_DISABLE_PTX_JIT=1",
							  "CUDA_VISIBLE_DEVICES=3",
							  "HOME=/absent"};
	enum { COUNT = sizeof environment / sizeof *environment };
	char *variables[COUNT + 1] = {NULL};
	static const char *const taken[] = {"CUDA_CACHE_DISABLE=1",   "CUDA_FORCE_JIT=1",
										"CUDA_DISABLE_PTX_JIT=1", "CUDA_VISIBLE_DEVICES=3",
										"HOME=/absent",           NULL};
	pid_t child;

	for (size_t i = 0; i < COUNT; i++)
		variables[i] = environment[i];
	child = start_process(variables);
	assert_int_equal(setenv("CUDA_CACHE_PATH", "/ours", 1), 0);
	assert_int_equal(setenv("CUDA_INJECTION64_PATH", "/ours", 1), 0);
	OK(jw_examine_process(why, (int)child));
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	assert_null(getenv("CUDA_CACHE_PATH"));
	assert_null(getenv("CUDA_INJECTION64_PATH"));
	assert_null(getenv("CUDA_COREDUMP_FILE"));
	assert_null(getenv("CUDA_MPS_PIPE_DIRECTORY"));
	assert_string_not_equal(getenv("PATH") ? getenv("PATH") : "", "/tmp/evil");
	for (size_t i = 0; taken[i]; i++) {
		char name[64];
		const size_t length = strcspn(taken[i], "=");

		memcpy(name, taken[i], length);
		name[length] = '\0';
		assert_string_equal(getenv(name), taken[i] + length + 1);
	}
}

TEST(a_process_that_is_gone_is_not_found)
{
	char *const none[] = {NULL};
	pid_t child = start_process(none);

	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	GIVES(JW_ERR_NOT_FOUND, jw_examine_process(why, (int)child));
}

/* No process changes its account, and root examines no other account's programs. */
TEST(another_account_is_refused)
{
	enum { NOBODY = 65534 };
	char home[] = "HOME=/tmp/its", *const variables[] = {home, NULL};
	pid_t child;

	if (geteuid() != 0)
		skip();
	assert_int_equal(setenv("HOME", "/ours", 1), 0);
	for (uid_t account = NOBODY - 1; account <= NOBODY; account++) {
		child = start_process_as(account, variables);
		assert_int_equal(jw_examine_process(why, (int)child), -1);
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	assert_int_equal(geteuid(), 0);
	assert_string_equal(getenv("HOME"), "/ours");
}

RUN_TESTS(NULL, NULL)
