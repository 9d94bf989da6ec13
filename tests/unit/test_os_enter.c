#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/enter.h"
#include "os/processes.h"

enum { NOBODY = 65534 };

/* A process with mounts of its own, with /mnt empty but for "inside". 0: this account may not make
 * one. */
static pid_t start_elsewhere(uid_t owner)
{
	int ends[2];
	char good = 0;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		good = !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
			   !mount("none", "/mnt", "tmpfs", 0, NULL) && !mkdir("/mnt/inside", 0755) &&
			   !setgid(owner) && !setuid(owner);
		(void)!write(ends[1], &good, 1);
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &good, 1), 1);
	(void)close(ends[0]);
	(void)close(ends[1]);
	if (good)
		return child;
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return 0;
}

static int take_none(struct jw_error *err, void *context, const char *name, const char *value)
{
	(void)err;
	(void)context;
	(void)name;
	(void)value;
	return 0;
}

/* The first thing that is not as it must be; 0: none. */
static int look_around(pid_t pid, uid_t owner)
{
	char program[] = "false"; /* where it is started, it fails */
	char *const words[] = {program, NULL};
	struct jw_error err = {0};
	void *memory;

	if (!os_process_is_elsewhere((int)pid))
		return 1;
	if (os_enter_process(&err, (int)pid, take_none, NULL))
		return 2;
	if (access("/mnt/inside", F_OK))
		return 3;
	if (getuid() != owner || geteuid() != owner || getgid() != owner || getgroups(0, NULL) != 0)
		return 4;
	if (!setuid(owner ? 0 : NOBODY) && owner)
		return 5;
	if (!execve("/bin/false", words, words) || errno != EPERM)
		return 6;
	/* Of the C library's, those that no sanitizer has loaded before */
	if (dlopen("libanl.so.1", RTLD_NOW) || dlopen("libBrokenLocale.so.1", RTLD_NOW))
		return 7;
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || !mprotect(memory, 4096, PROT_READ | PROT_EXEC))
		return 8;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		return 9;
	if (!mount("none", "/mnt", "tmpfs", 0, NULL) || !unshare(CLONE_NEWNS))
		return 10;
	return 0;
}

static void enter_as(uid_t owner)
{
	const pid_t pid = geteuid() ? 0 : start_elsewhere(owner);
	pid_t child;
	int status;

	if (!pid)
		skip();
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(look_around(pid, owner));
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Neither code of the container nor a right of ours is there. */
static void roots_files_are_entered_without_roots_rights(void **state)
{
	(void)state;
	enter_as(0);
}

static void an_accounts_files_are_entered_with_its_rights(void **state)
{
	(void)state;
	enter_as(NOBODY);
}

static void nothing_is_entered_that_is_not_there(void **state)
{
	struct jw_error err = {0};

	(void)state;
	assert_false(os_process_is_elsewhere(-1));
	assert_false(os_process_is_elsewhere((int)getpid()));
	assert_int_equal(os_enter_process(&err, 1 << 30, take_none, NULL), -1);
	assert_string_not_equal(err.message, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots_files_are_entered_without_roots_rights),
		cmocka_unit_test(an_accounts_files_are_entered_with_its_rights),
		cmocka_unit_test(nothing_is_entered_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
