#include "folder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grp.h>
#include <pwd.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/process.h"
#include "os/processes.h"

enum { NOBODY = 65534 };

static bool groups_are(size_t count, const gid_t *wanted)
{
	gid_t groups[8];

	return getgroups(8, groups) == (int)count && !memcmp(groups, wanted, count * sizeof *groups);
}

/* What a process of root's is as another account; 0: as it must be. */
static int become_another(void)
{
	static const gid_t of_root[] = {0, 54321}, of_other[] = {NOBODY + 1};
	char name[] = "nobody", home[] = "/nowhere";
	const struct jw_account account = {
		.name = name, .home = home, .owner = NOBODY, .group = NOBODY + 1};

	if (setgroups(2, of_root) || setenv("XDG_STATE_HOME", "/root", 1) || setenv("HOME", "/", 1) ||
		setenv("ZDOTDIR", "/root", 1) || setenv("SHELL", "/root/sh", 1))
		return 1;
	if (os_become_account(NULL, &account) || !groups_are(1, of_other))
		return 4;
	if (getuid() != NOBODY || getgid() != NOBODY + 1 || getegid() != NOBODY + 1 || !setuid(0))
		return 5;
	return getenv("XDG_STATE_HOME") || getenv("ZDOTDIR") || strcmp(getenv("HOME"), home) ||
		   strcmp(getenv("USER"), name) || strcmp(getenv("SHELL"), getpwnam(name)->pw_shell);
}

static int status_of(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(another_account_is_become_with_its_groups)
{
	pid_t child;

	if (geteuid() != 0)
		skip();
	child = fork();
	if (!child)
		_exit(become_another());
	assert_int_equal(status_of(child), 0);
}

static int tell_who(struct jw_error *err, void *context, struct buf *answer)
{
	const uid_t who[] = {getuid(), geteuid(), (uid_t)getpid()};

	if (!context)
		return error_set(err, JW_ERR_LIMIT, "not today");
	if (*(char *)context == 'k')
		(void)raise(SIGKILL);
	return buf_append(err, answer, who, sizeof who);
}

/* Its answer, its failure, or that there is none. */
TEST(another_account_does_something_in_a_process_of_its_own)
{
	char name[] = "nobody", home[] = "/nowhere";
	const struct jw_account account = {
		.name = name, .home = home, .owner = NOBODY, .group = NOBODY + 1};
	struct buf answer = BUF_MAX(64);
	uid_t who[3];

	if (geteuid() != 0)
		skip();
	OK(os_work_as(why, &account, tell_who, &(char){'a'}, &answer));
	assert_int_equal(answer.size, sizeof who);
	memcpy(who, answer.data, sizeof who);
	assert_int_equal(who[0], NOBODY);
	assert_int_equal(who[1], NOBODY);
	assert_int_not_equal(who[2], getpid());
	GIVES(JW_ERR_LIMIT, os_work_as(why, &account, tell_who, NULL, &answer));
	assert_string_equal(why->message, "not today");
	assert_int_equal(os_work_as(why, &account, tell_who, &(char){'k'}, &answer), -1);
	assert_non_null(strstr(why->message, "ended early"));
	assert_int_equal(geteuid(), 0);
	buf_free(&answer);
}

/* The real, the effective and the saved account */
TEST(a_process_of_several_accounts_is_nobodys)
{
	for (int other = 0; other < 4; other++) {
		uint32_t owner = 0;
		uid_t ids[3];
		int ends[2], result;
		pid_t child;
		char one;

		if (geteuid() != 0)
			skip();
		for (int i = 0; i < 3; i++)
			ids[i] = i == other ? NOBODY - 1 : NOBODY;
		assert_int_equal(pipe(ends), 0);
		child = fork();
		if (!child) {
			(void)!setresuid(ids[0], ids[1], ids[2]);
			(void)!write(ends[1], "x", 1);
			(void)pause();
			_exit(0);
		}
		(void)!read(ends[0], &one, 1);
		result = os_process_owner(why, (int)child, &owner);
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
		(void)close(ends[0]);
		(void)close(ends[1]);
		assert_int_equal(result, other < 3 ? -1 : 0);
		assert_int_equal(other < 3 ? (uint32_t)why->code : owner,
						 other < 3 ? (uint32_t)JW_ERR_UNSUPPORTED : NOBODY);
	}
}

/* Starts what would go on for ever, and says that it runs by the end that it has of a pipe. */
static void run_for_ever(int end, bool worker)
{
	char *output, text[64];
	struct os_ended ended;
	const char *const words[] = {"/bin/sh", "-c", text, NULL};

	(void)snprintf(text, sizeof text, "echo >&%d; exec sleep 100 >/dev/null 2>&1", end);
	if (worker && fork())
		(void)pause();
	if (worker) {
		os_die_with_parent();
		(void)execv(words[0], (char *const *)(uintptr_t)words);
	} else if ((output = os_join(folder, "output"))) {
		(void)os_run(NULL, words, output, NULL, &ended);
	}
	_exit(1);
}

/* A compiler and a worker, whose parent is killed: nobody has the pipe any more. */
TEST(a_child_ends_with_its_parent)
{
	for (int worker = 0; worker < 2; worker++) {
		int ends[2];
		pid_t child;
		char one;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		if (!child) {
			(void)setpgid(0, 0);
			run_for_ever(ends[1], worker);
		}
		(void)close(ends[1]);
		(void)alarm(30);
		assert_int_equal(read(ends[0], &one, 1), 1);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(read(ends[0], &one, 1), 0);
		(void)alarm(0);
		(void)waitpid(child, NULL, 0);
		(void)close(ends[0]);
	}
}

RUN_TESTS(make_folder, remove_folder)
