#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grp.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/process.h"
#include "os/processes.h"

enum { NOBODY = 65534 };

static bool write_whole(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY);
	const size_t size = strlen(text);
	const bool written = fd >= 0 && write(fd, text, size) == (ssize_t)size;

	if (fd >= 0)
		(void)close(fd);
	return written;
}

/* "0 0 1": root here is root there. */
static bool leave_namespaces(bool own_users)
{
	if (own_users && (unshare(CLONE_NEWUSER) || !write_whole("/proc/self/setgroups", "deny") ||
					  !write_whole("/proc/self/uid_map", "0 0 1") ||
					  !write_whole("/proc/self/gid_map", "0 0 1")))
		return false;
	return !unshare(CLONE_NEWNS);
}

/* A process with mounts of its own, with /mnt empty but for "inside" and a device, where it may
 * make one. 0: this account may not make such a process. */
static pid_t start_elsewhere(uid_t owner, bool own_users)
{
	int ends[2];
	char good = 0;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		good = leave_namespaces(own_users) &&
			   !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
			   !mount("none", "/mnt", "tmpfs", 0, NULL) && !mkdir("/mnt/inside", 0755) &&
			   (mknod("/mnt/null", S_IFCHR | 0666, makedev(1, 3)) || true) && !setgid(owner) &&
			   !setuid(owner);
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

static uint32_t rights_now(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	assert_int_equal(syscall(SYS_capget, &head, data), 0);
	return data[0].effective | data[0].permitted | data[1].effective | data[1].permitted;
}

/* The first thing that is not as it must be; 0: none. */
static int look_around(pid_t pid, uid_t owner, bool own_users)
{
	char program[] = "false"; /* where it is started, it fails */
	char *const words[] = {program, NULL};
	struct jw_error err = {0};
	void *memory;

	if (!os_process_is_elsewhere((int)pid))
		return 1;
	if (os_enter_process(&err, (int)pid, take_none, NULL))
		return 2;
	if (rights_now() & ~(owner || own_users ? 0U : 1U << CAP_DAC_OVERRIDE))
		return 12;
	if (prctl(PR_GET_DUMPABLE))
		return 13;
	if (open("/mnt/null", O_RDONLY) >= 0)
		return 14;
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

static void enter_as(uid_t owner, bool own_users)
{
	const pid_t pid = geteuid() ? 0 : start_elsewhere(owner, own_users);
	pid_t child;
	int status;

	if (!pid)
		skip();
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(look_around(pid, owner, own_users));
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Neither code of the container nor a right of ours is there. */
TEST(roots_files_are_entered_without_roots_rights)
{
	enter_as(0, false);
}

/* Its rights hold for its own namespace, and its mounts may lead programs astray. */
TEST(root_of_its_own_users_has_no_rights_here)
{
	enter_as(0, true);
}

TEST(an_accounts_files_are_entered_with_its_rights)
{
	enter_as(NOBODY, false);
}

TEST(nothing_is_entered_that_is_not_there)
{
	struct jw_error err = {0};

	assert_false(os_process_is_elsewhere(-1));
	assert_false(os_process_is_elsewhere((int)getpid()));
	assert_int_equal(os_enter_process(&err, 1 << 30, take_none, NULL), -1);
	assert_string_not_equal(err.message, "");
}

static bool groups_are(size_t count, const gid_t *wanted)
{
	gid_t groups[8];

	return getgroups(8, groups) == (int)count && !memcmp(groups, wanted, count * sizeof *groups);
}

/* What a process of root's is as another account, for a while and for good; 0: as it must be. */
static int act_and_become(void)
{
	static const gid_t of_root[] = {0, 54321}, of_other[] = {NOBODY + 1};
	char name[] = "nobody", home[] = "/nowhere";
	const struct jw_account account = {
		.name = name, .home = home, .owner = NOBODY, .group = NOBODY + 1};

	if (setgroups(2, of_root) || setenv("XDG_STATE_HOME", "/root", 1) || setenv("HOME", "/", 1))
		return 1;
	if (os_act_as_account(NULL, &account) || geteuid() != NOBODY || getegid() != NOBODY + 1 ||
		getuid() || !groups_are(1, of_other))
		return 2;
	os_act_as_self();
	if (geteuid() || getegid() || !groups_are(2, of_root))
		return 3;
	if (os_become_account(NULL, &account) || !groups_are(1, of_other))
		return 4;
	if (getuid() != NOBODY || getgid() != NOBODY + 1 || getegid() != NOBODY + 1 || !setuid(0))
		return 5;
	return getenv("XDG_STATE_HOME") || strcmp(getenv("HOME"), home) || strcmp(getenv("USER"), name);
}

static int status_of(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(another_accounts_groups_are_taken_and_ours_given_back)
{
	pid_t child;

	if (geteuid() != 0)
		skip();
	child = fork();
	if (!child)
		_exit(act_and_become());
	assert_int_equal(status_of(child), 0);
}

/* The real, the effective and the saved account */
TEST(a_process_of_several_accounts_is_nobodys)
{
	for (int other = 0; other < 4; other++) {
		struct jw_error err = {0};
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
		result = os_process_owner(&err, (int)child, &owner);
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
		(void)close(ends[0]);
		(void)close(ends[1]);
		assert_int_equal(result, other < 3 ? -1 : 0);
		assert_int_equal(other < 3 ? (uint32_t)err.code : owner,
						 other < 3 ? (uint32_t)JW_ERR_UNSUPPORTED : NOBODY);
	}
}

/* Starts what would go on for ever, and says that it runs by the end that it has of a pipe. */
static void run_for_ever(int end, bool worker)
{
	char *folder, *output, text[64];
	struct os_ended ended;
	const char *const words[] = {"/bin/sh", "-c", text, NULL};

	(void)snprintf(text, sizeof text, "echo >&%d; exec sleep 100 >/dev/null 2>&1", end);
	if (worker && fork())
		(void)pause();
	if (worker) {
		os_die_with_parent();
		(void)execv(words[0], (char *const *)(uintptr_t)words);
	} else if (!os_make_temp_dir(NULL, "jitwarm-ends", &folder) &&
			   (output = os_join(NULL, folder, "output"))) {
		(void)os_run(NULL, words, output, &ended);
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

RUN_TESTS(NULL, NULL)
