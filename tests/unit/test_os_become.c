/* A process that acts for another account has that account's rights alone, and ends with its
 * parent. */
#include "folder.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/processes.h"

enum { NOBODY = 65534 };

/* The child's state: ids, group, session, terminal, descriptors, and a variable of root's in its
 * memory. */
struct seen {
	uid_t ids[3];
	gid_t group;
	int groups;
	pid_t session, process;
	bool terminal, secret;
	bool capable; /* it has a capability, or could get one by a program */
	bool streams; /* its input and its errors are root's */
	int variables;
	int least, most; /* the range of descriptors above 2 */
};

static bool has_capability(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	bool has = false;

	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "Cap", 3) && strncmp(line, "CapBnd", 6) != 0)
			has = has || strtoull(strchr(line, ':') + 1, NULL, 16);
	if (file)
		(void)fclose(file);
	return has;
}

/* Lets the programs of this process inherit all of its capabilities. */
static void pass_capabilities_on(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct own[_LINUX_CAPABILITY_U32S_3];

	assert_false(syscall(SYS_capget, &header, own));
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		own[i].inheritable = own[i].permitted;
	assert_false(syscall(SYS_capset, &header, own));
}

static bool is_nowhere(int fd)
{
	struct stat nowhere, stat;

	return !lstat("/dev/null", &nowhere) && !fstat(fd, &stat) && stat.st_rdev == nowhere.st_rdev;
}

static bool has_secret(void)
{
	char text[65536];
	FILE *file = fopen("/proc/self/environ", "re");
	size_t size = file ? fread(text, 1, sizeof text, file) : 0;
	bool has = false;

	for (size_t i = 0; i + 6 < size; i++)
		has = has || !memcmp(text + i, "SECRET", 6);
	if (file)
		(void)fclose(file);
	return has || getenv("SECRET_OF_ROOT");
}

static int tell_who(struct jw_error *err, void *context, struct buf *answer)
{
	const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC);
	struct seen seen = {.group = getgid(),
						.groups = getgroups(0, NULL),
						.session = getsid(0),
						.process = getpid(),
						.terminal = terminal >= 0,
						.secret = has_secret(),
						.capable = has_capability(),
						.streams = !is_nowhere(0) || !is_nowhere(2)};

	for (char **variable = environ; *variable; variable++)
		seen.variables++;
	if (!context)
		return error_set(err, JW_ERR_LIMIT, "not today");
	if (*(char *)context == 'i')
		return error_set(err, JW_ERR_INTERRUPTED, "not root's request");
	if (*(char *)context == 'k')
		(void)raise(SIGKILL);
	if (*(char *)context == 's')
		(void)raise(SIGSTOP);
	if (*(char *)context == 'l') {
		char letters[sizeof(int) + sizeof(struct jw_error)]; /* a message without an end */

		memset(letters, 'x', sizeof letters);
		_exit(write(1, letters, sizeof letters) == sizeof letters ? 0 : 1);
	}
	if (*(char *)context == 'w')
		(void)pause();
	if (terminal >= 0)
		(void)close(terminal);
	(void)getresuid(&seen.ids[0], &seen.ids[1], &seen.ids[2]);
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0) {
			seen.least = seen.least ? seen.least : fd;
			seen.most = fd;
		}
	return buf_append(err, answer, &seen, sizeof seen);
}

/* Returns the code with which root's request to end is answered while the account's process waits.
 */
static int code_of_interrupted(const struct jw_account *account)
{
	const pid_t child = fork();
	int status = 0;

	if (!child) {
		struct jw_error interrupted = {0};
		struct buf answer = BUF_MAX(256);

		os_catch_interrupts();
		(void)raise(SIGTERM);
		(void)os_work_as(&interrupted, account, -1, 60, tell_who, NULL, &(char){'w'}, &answer);
		_exit((int)interrupted.code);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The child returns an answer, fails, gives none or a long text, is stopped or takes too long. It
 * has nothing of root's but the descriptor that is kept. */
TEST(another_account_does_something_in_a_process_of_its_own)
{
	char name[] = "nobody", home[] = "/nowhere";
	const struct jw_account account = {
		.name = name, .home = home, .owner = NOBODY, .group = NOBODY + 1};
	struct buf answer = BUF_MAX(256);
	struct seen seen;
	int keeps, other, ends[2], input;

	if (geteuid() != 0)
		skip();
	pass_capabilities_on();
	input = dup(0);
	assert_true(input > 2 && !pipe(ends) && dup2(ends[0], 0) == 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
	assert_int_equal(setenv("SECRET_OF_ROOT", "SECRET", 1), 0);
	assert_true(has_secret());
	other = dup(0);
	keeps = dup(0);
	assert_true(other > 2 && keeps > other && dup(0) > keeps);
	for (int kept = 0; kept < 2; kept++) {
		answer.size = 0;
		OK(os_work_as(why, &account, kept ? keeps : -1, 60, tell_who, NULL, &(char){'a'}, &answer));
		assert_int_equal(answer.size, sizeof seen);
		memcpy(&seen, answer.data, sizeof seen);
		for (int i = 0; i < 3; i++)
			assert_int_equal(seen.ids[i], NOBODY);
		assert_int_equal(seen.group, NOBODY + 1);
		assert_int_equal(seen.groups, 1);
		assert_int_not_equal(seen.process, getpid());
		assert_int_equal(seen.session, seen.process);
		assert_false(seen.terminal || seen.secret || seen.capable || seen.streams);
		assert_int_equal(seen.variables, 4);
		assert_int_equal(seen.least, kept ? keeps : 0);
		assert_int_equal(seen.most, kept ? keeps : 0);
	}
	answer.size = 0;
	GIVES(JW_ERR_LIMIT, os_work_as(why, &account, -1, 60, tell_who, NULL, NULL, &answer));
	assert_string_equal(why->message, "not today");
	assert_int_equal(os_work_as(why, &account, -1, 60, tell_who, NULL, &(char){'k'}, &answer), -1);
	assert_non_null(strstr(why->message, "ended early"));
	assert_int_equal(os_work_as(why, &account, -1, 60, tell_who, NULL, &(char){'s'}, &answer), -1);
	assert_non_null(strstr(why->message, "was stopped"));
	assert_int_equal(os_work_as(why, &account, -1, 1, tell_who, NULL, &(char){'w'}, &answer), -1);
	assert_non_null(strstr(why->message, "took longer than 1 s"));
	GIVES(JW_ERR_IO, os_work_as(why, &account, -1, 60, tell_who, NULL, &(char){'i'}, &answer));
	assert_int_equal(os_work_as(why, &account, -1, 60, tell_who, NULL, &(char){'l'}, &answer), -1);
	assert_non_null(memchr(why->message, '\0', sizeof why->message));
	assert_int_equal(code_of_interrupted(&account), JW_ERR_INTERRUPTED);
	assert_int_equal(geteuid(), 0);
	assert_int_equal(dup2(input, 0), 0);
	buf_free(&answer);
}

/* The account traces its process, and does not let it go when it has been killed. */
static int be_traced(struct jw_error *err, void *context, struct buf *answer)
{
	const pid_t own = getpid();

	(void)err;
	(void)context;
	(void)answer;
	(void)prctl(PR_SET_DUMPABLE, 1);
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (!fork()) {
		(void)close(1);
		(void)alarm(60);
		(void)ptrace(PTRACE_SEIZE, own, NULL, NULL);
		for (;;)
			(void)pause();
	}
	return pause();
}

TEST(a_process_that_does_not_end_is_left)
{
	char name[] = "nobody", home[] = "/nowhere";
	const struct jw_account account = {
		.name = name, .home = home, .owner = NOBODY, .group = NOBODY + 1};
	struct buf answer = BUF_MAX(256);

	if (geteuid() != 0)
		skip();
	(void)alarm(30);
	assert_int_equal(os_work_as(why, &account, -1, 1, be_traced, NULL, NULL, &answer), -1);
	(void)alarm(0);
	assert_non_null(strstr(why->message, "took longer than 1 s"));
	buf_free(&answer);
}

/* A process has a real, an effective and a saved account. */
TEST(a_process_of_several_accounts_is_nobodys)
{
	for (int other = 0; other < 4; other++) {
		uint32_t owner = 0, group = 1;
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
		result = os_process_owner(why, (int)child, &owner, &group);
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
		(void)close(ends[0]);
		(void)close(ends[1]);
		assert_int_equal(result, other < 3 ? -1 : 0);
		assert_int_equal(other < 3 ? (uint32_t)why->code : owner,
						 other < 3 ? (uint32_t)JW_ERR_UNSUPPORTED : NOBODY);
		assert_int_equal(group, other < 3 ? 1 : (int)getegid());
	}
}

static int take_nothing(struct jw_error *err, void *context, const char *path, bool replaced)
{
	(void)err;
	(void)context;
	(void)path;
	(void)replaced;
	return 0;
}

/* Maps a file with a long name until its maps have 16 MiB. */
static void map_much(int end)
{
	enum { LENGTH = 200, MAPS = 60000 };
	char name[LENGTH + 1] = {0};
	int file;

	memset(name, 'x', LENGTH);
	(void)alarm(60);
	(void)!(chdir(folder) || mkdir(name, 0700) || chdir(name));
	file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < MAPS; i++)
		(void)mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 0);
	(void)!write(end, "x", 1);
	for (;;)
		(void)pause();
}

TEST(a_process_with_very_many_maps_is_read_in_part)
{
	int ends[2];
	pid_t child;
	char one;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child)
		map_much(ends[1]);
	assert_int_equal(read(ends[0], &one, 1), 1);
	OK(os_mapped_code(why, (int)child, take_nothing, NULL));
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static int wait_for_ever(struct jw_error *err, void *context, struct buf *answer)
{
	(void)err;
	(void)answer;
	(void)!write(*(const int *)context, "x", 1);
	return pause();
}

enum parent { COMPILERS, WORKERS, ACCOUNTS, PARENTS };

/* Runs without end, and shows through its end of a pipe that it runs. */
static void run_for_ever(int end, enum parent parent)
{
	char name[] = "nobody", home[] = "/nowhere";
	const struct jw_account account = {
		.name = name, .home = home, .owner = NOBODY, .group = NOBODY + 1};
	char *output, text[64];
	struct os_ended ended;
	const char *const words[] = {"/bin/sh", "-c", text, NULL};

	(void)snprintf(text, sizeof text, "echo >&%d; exec sleep 100 >/dev/null 2>&1", end);
	if (parent == ACCOUNTS)
		(void)os_work_as(NULL, &account, end, 100, wait_for_ever, NULL, &end, &BUF_MAX(256));
	if (parent == WORKERS && fork())
		(void)pause();
	if (parent == WORKERS) {
		os_die_with_parent();
		(void)execv(words[0], (char *const *)(uintptr_t)words);
	} else if ((output = os_join(folder, "output"))) {
		(void)os_run(NULL, words, NULL, NULL, output, NULL, &ended);
	}
	_exit(1);
}

/* The parent of a compiler, of a worker and of an account's process is killed; then nobody has the
 * pipe any more. */
TEST(a_child_ends_with_its_parent)
{
	for (enum parent parent = COMPILERS; parent < (geteuid() ? ACCOUNTS : PARENTS); parent++) {
		int ends[2];
		pid_t child;
		char one;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		if (!child) {
			(void)setpgid(0, 0);
			run_for_ever(ends[1], parent);
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
