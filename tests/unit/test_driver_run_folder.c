/* A run's folder: the remains of killed runs are removed, and the folders of running ones stay. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "driver/run_folder.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"

static char *state_dir;

/* A file of this name stays, whoever removes it. */
int unlinkat(int folder_fd, const char *name, int flags)
{
	if (!strcmp(name, "stuck") || (flags && text_ends(name, "drivers"))) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, folder_fd, name, flags);
}

/* The file system has no locks, or is on a network. */
static bool lockless, networked;

int fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (lockless && command == F_SETLK) {
		errno = ENOLCK;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

int statfs(const char *path, struct statfs *info)
{
	const int result = (int)syscall(SYS_statfs, path, info);

	if (!result && networked)
		info->f_type = 0x6969;
	return result;
}

/* For other processes, a folder whose lock does not exist yet has no owner, so it is not made. */
int mkdirat(int folder_fd, const char *name, mode_t mode)
{
	char own[32], lock[4200];

	(void)snprintf(own, sizeof own, "%d-", (int)getpid());
	(void)snprintf(lock, sizeof lock, "%.4096s.lock", name);
	if (text_starts(os_base_name(name), own) && faccessat(folder_fd, lock, F_OK, 0))
		return -1;
	return (int)syscall(SYS_mkdirat, folder_fd, name, mode);
}

/* The number of looks at such a name, and of looks through a symlink */
static int by_foreign_name, through_links;

int fstatat(int folder_fd, const char *name, struct stat *stat, int flags)
{
	char target[8];

	by_foreign_name += text_ends(name, "of-another");
	through_links += !(flags & AT_SYMLINK_NOFOLLOW) &&
					 syscall(SYS_readlinkat, folder_fd, name, target, sizeof target) > 0;
	return (int)syscall(SYS_newfstatat, folder_fd, name, stat, flags);
}

int stat(const char *path, struct stat *stat)
{
	return fstatat(AT_FDCWD, path, stat, 0);
}

static int make_state(void **state)
{
	(void)state;
	return os_make_temp_dir(why, "jitwarm-folder", &state_dir);
}

static int remove_state(void **state)
{
	int result = os_remove_tree(why, state_dir);

	(void)state;
	mem_free(state_dir);
	return result;
}

static size_t in_work(void)
{
	struct os_names names = {0};
	size_t count;

	OK(os_list(why, keep(os_join(state_dir, "runs")), &names));
	count = names.count;
	os_names_free(&names);
	return count;
}

/* Starts a process with a folder of its own; *ret_path is the folder's name. */
static pid_t start_run(char *path, size_t size)
{
	int ready[2];
	struct run_folder folder;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(path, 0, size);
		if (!run_folder_make(NULL, state_dir, &folder) && strlen(folder.path) < size)
			memcpy(path, folder.path, strlen(folder.path));
		if (write(ready[1], path, size) != (ssize_t)size)
			_exit(1);
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], path, size), (ssize_t)size);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

TEST(a_living_run_keeps_its_folder_and_a_dead_one_does_not)
{
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char path[512], lock[600];
	struct run_folder folder;
	pid_t pid = start_run(path, sizeof path);

	(void)snprintf(lock, sizeof lock, "%s.lock", path);
	assert_true(os_exists(path));
	assert_int_equal(utimensat(AT_FDCWD, lock, long_ago, 0), 0);
	OK(run_folder_make(why, state_dir, &folder));
	assert_true(os_exists(path) && os_exists(lock));
	run_folder_remove(&folder);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	OK(run_folder_make(why, state_dir, &folder));
	assert_false(os_exists(path));
	run_folder_remove(&folder);
	assert_int_equal(in_work(), 0);
}

/* The number in the name says nothing: the process may be on another machine. */
TEST(a_lock_counts_more_than_a_number)
{
	char path[512], elsewhere[512], lock[600], moved[600];
	struct run_folder folder;
	pid_t pid = start_run(path, sizeof path);

	(void)snprintf(elsewhere, sizeof elsewhere, "%s/runs/999999999-1", state_dir);
	(void)snprintf(lock, sizeof lock, "%s.lock", path);
	OK(os_rename(why, path, elsewhere));
	(void)snprintf(moved, sizeof moved, "%s.lock", elsewhere);
	OK(os_rename(why, lock, moved));
	OK(run_folder_make(why, state_dir, &folder));
	assert_true(os_exists(elsewhere));
	run_folder_remove(&folder);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	OK(run_folder_make(why, state_dir, &folder));
	assert_false(os_exists(elsewhere));
	run_folder_remove(&folder);
}

TEST(two_folders_of_one_process_do_not_harm_each_other)
{
	struct run_folder first, second;

	OK(run_folder_make(why, state_dir, &first));
	OK(run_folder_make(why, state_dir, &second));
	assert_true(os_exists(first.path));
	run_folder_remove(&second);
	assert_true(os_exists(first.path));
	run_folder_remove(&first);
	assert_int_equal(in_work(), 0);
}

/* If locks do not work, age decides. A lock alone is a leftover if it is old and its folder is
 * certainly gone. */
TEST(age_decides_where_locks_do_not)
{
	static const struct {
		const char *name, *looped;
		bool old, folder, locks, stays;
	} cases[] = {
		{"999999991-1", NULL, false, true, false, true},
		{"999999991-2", NULL, true, true, false, false},
		{"999999991-3", NULL, false, false, true, true},
		{"999999991-4", NULL, true, false, true, false},
		{"999999991-5", "999999991-5", true, false, true, true},
	};
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct run_folder own;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = keep(mem_printf("%s/runs/%s", state_dir, cases[i].name));
		char *lock = keep(mem_printf("%s.lock", path));

		OK(os_make_parent(why, path, 0700));
		OK(os_write_atomic(why, lock, "", 0));
		OK(cases[i].folder ? os_make_dirs(why, path, 0700) : 0);
		assert_int_equal(cases[i].looped ? symlink(cases[i].looped, path) : 0, 0);
		if (cases[i].old)
			assert_int_equal(utimensat(AT_FDCWD, cases[i].folder ? path : lock, long_ago, 0), 0);
		lockless = !cases[i].locks;
		OK(run_folder_make(why, state_dir, &own));
		lockless = false;
		run_folder_remove(&own);
		if (os_exists(lock) != cases[i].stays ||
			(cases[i].folder && os_exists(path) != cases[i].stays))
			fail_msg("case %zu", i);
		OK(os_remove_tree(why, path) || os_remove(NULL, lock));
	}
}

/* A driver may fail to lock on a network. */
TEST(elsewhere_where_the_state_folder_does_not_serve)
{
	char *shared = keep(os_join(state_dir, "shared"));
	struct run_folder folder;

	OK(os_make_dirs(why, shared, 0700) || chmod(shared, 0777));
	for (int i = 0; i < 2; i++) {
		networked = !i;
		OK(run_folder_make(why, i ? shared : state_dir, &folder));
		networked = false;
		assert_int_equal(text_starts(folder.path, state_dir), i);
		run_folder_remove(&folder);
	}
	assert_int_equal(in_work(), 0);
}

TEST(an_old_folder_without_lock_is_removed)
{
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char fresh[512], old[512], lock[512];
	struct run_folder folder;

	(void)snprintf(fresh, sizeof fresh, "%s/runs/999999998-1", state_dir);
	(void)snprintf(old, sizeof old, "%s/runs/999999998-2", state_dir);
	(void)snprintf(lock, sizeof lock, "%s/runs/999999998-3.lock", state_dir);
	OK(os_make_dirs(why, fresh, 0700));
	OK(os_make_dirs(why, old, 0700));
	OK(os_write_atomic(why, lock, "", 0));
	assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, lock, long_ago, 0), 0);
	OK(run_folder_make(why, state_dir, &folder));
	assert_true(os_exists(fresh));
	assert_false(os_exists(old));
	assert_false(os_exists(lock));
	run_folder_remove(&folder);
	OK(os_remove_tree(why, fresh));
}

/* A run whose lock cannot be opened does not count as dead; a leftover that could not be removed is
 * found the next time by its lock. */
TEST(what_cannot_be_told_or_removed_stays)
{
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char doubtful[512], lock[600], stuck[512], stuck_lock[600], file[600], free_file[600];
	struct run_folder folder;

	(void)snprintf(doubtful, sizeof doubtful, "%s/runs/999999997-1", state_dir);
	(void)snprintf(lock, sizeof lock, "%s.lock", doubtful);
	(void)snprintf(stuck, sizeof stuck, "%s/runs/999999997-2", state_dir);
	(void)snprintf(stuck_lock, sizeof stuck_lock, "%s.lock", stuck);
	(void)snprintf(file, sizeof file, "%s/stuck", stuck);
	(void)snprintf(free_file, sizeof free_file, "%s/free", stuck);
	OK(os_make_dirs(why, doubtful, 0700));
	OK(os_make_dirs(why, stuck, 0700));
	assert_int_equal(symlink(lock, lock), 0);
	OK(os_write_atomic(why, stuck_lock, "", 0));
	OK(os_write_atomic(why, file, "", 0));
	assert_int_equal(utimensat(AT_FDCWD, doubtful, long_ago, 0), 0);
	OK(run_folder_make(why, state_dir, &folder));
	run_folder_remove(&folder);
	assert_true(os_exists(doubtful));
	assert_true(os_exists(file) && os_exists(stuck_lock));
	OK(os_rename(why, file, free_file));
	OK(run_folder_make(why, state_dir, &folder));
	run_folder_remove(&folder);
	assert_false(os_exists(stuck) || os_exists(stuck_lock));
	OK(os_remove(why, lock));
	OK(os_remove_tree(why, doubtful));
}

/* JITWARM_STATE may name a folder in which somebody keeps files of his own in runs. */
TEST(what_is_no_run_stays)
{
	static const char *const others[] = {"exp1", "exp1.lock", "12-a", "12-345.locked"};
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct run_folder own;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		char *path = keep(mem_printf("%s/runs/%s", state_dir, others[i]));

		OK(i % 2 ? os_make_parent(why, path, 0700) || os_write_atomic(why, path, "x", 1)
				 : os_make_dirs(why, path, 0700));
		assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	}
	OK(run_folder_make(why, state_dir, &own));
	run_folder_remove(&own);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		char *path = keep(mem_printf("%s/runs/%s", state_dir, others[i]));

		assert_true(os_exists(path));
		OK(os_remove_tree(why, path));
	}
}

TEST(without_a_state_directory_a_temporary_one_serves)
{
	char *file = keep(os_join(state_dir, "file")), *below = keep(os_join(file, "state"));
	struct run_folder folder;

	OK(os_write_atomic(why, file, "", 0));
	OK(run_folder_make(why, below, &folder));
	assert_true(os_exists(folder.path));
	run_folder_remove(&folder);
	OK(run_folder_make(why, NULL, &folder));
	assert_true(os_exists(folder.path));
	run_folder_remove(&folder);
}

/* In a folder such as /tmp, a symlink of another account can lead into its own file system, which
 * does not answer. */
TEST(sweeps_look_at_names_first_and_follow_no_symlink)
{
	static const char *const names[] = {"of-another", "jitwarm-run-1-a", "run-1", "runs/1-1",
										"runs/2-2.lock"};
	char *before = keep(os_env("TMPDIR")), *path;

	OK(os_env_set(why, "TMPDIR", state_dir));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		path = keep(os_join(state_dir, names[i]));
		OK(os_make_parent(why, path, 0700));
		assert_int_equal(symlink("/", path), 0);
	}
	by_foreign_name = through_links = 0;
	run_folder_sweep(state_dir);
	assert_int_equal(run_folder_living(state_dir), 0);
	os_sweep(state_dir, "run-", "#", OS_DIRECTORY, 0);
	os_sweep(state_dir, "run-", "#", OS_REGULAR, 3600);
	assert_int_equal(by_foreign_name, 0);
	assert_int_equal(through_links, 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		path = keep(os_join(state_dir, names[i]));
		OK(os_remove(why, path));
	}
	OK(os_env_set(why, "TMPDIR", before));
}

TEST(temporary_ones_of_killed_runs_go_too)
{
	struct timespec ago[2] = {{.tv_sec = time(NULL) - 300}, {.tv_sec = time(NULL) - 300}};
	char path[512];
	char *before = keep(os_env("TMPDIR")), *kept = state_dir;
	char *young = keep(os_join(kept, "jitwarm-run-999999999-x")),
		 *lock = keep(os_join(young, "lock"));
	struct run_folder folder, second;
	pid_t pid;

	OK(os_env_set(why, "TMPDIR", kept));
	/* its own folder, and one that is not locked yet */
	OK(os_make_dirs(why, young, 0700) || os_write_atomic(NULL, lock, "", 0));
	OK(run_folder_make(why, NULL, &folder));
	assert_int_equal(utimensat(AT_FDCWD, folder.path, ago, 0), 0);
	OK(run_folder_make(why, NULL, &second));
	assert_true(os_exists(folder.path) && os_exists(young));
	run_folder_remove(&second);
	run_folder_remove(&folder);
	assert_int_equal(utimensat(AT_FDCWD, young, ago, 0), 0);
	run_folder_sweep(NULL);
	assert_false(os_exists(young));
	state_dir = NULL;
	pid = start_run(path, sizeof path);
	state_dir = kept;
	assert_true(text_starts(path, kept));
	assert_int_equal(utimensat(AT_FDCWD, path, ago, 0), 0);
	run_folder_sweep(NULL);
	assert_true(os_exists(path));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	OK(run_folder_make(why, NULL, &folder));
	assert_false(os_exists(path));
	run_folder_remove(&folder);
	OK(os_env_set(why, "TMPDIR", before));
}

/* An empty folder that stays is named, and a file that may be another program's key stays. */
TEST(what_the_removal_cannot_do_is_said)
{
	char *state_of = keep(os_join(state_dir, "removed"));
	char *key = keep(os_join(state_of, "keys/x.key")),
		 *drivers = keep(os_join(state_of, "drivers"));
	struct jw_state_removal removal = {.with_keys = true};

	OK(os_make_dirs(why, drivers, 0700) || os_make_parent(NULL, key, 0700));
	assert_int_equal(symlink("x.key", key), 0);
	OK(os_env_set(why, "JITWARM_STATE", state_of));
	assert_int_equal(jw_state_remove(why, &removal), -1);
	assert_non_null(strstr(why->message, "/drivers"));
	assert_int_equal(syscall(SYS_unlinkat, AT_FDCWD, drivers, AT_REMOVEDIR), 0);
	OK(jw_state_remove(why, &removal));
	assert_null(removal.path);
	assert_int_equal(unlink(key), 0);
}

RUN_TESTS(make_state, remove_state)
