#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <uv.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/console.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/interrupt.h"
#include "os/posix/posix.h"
#include "os/process.h"

bool os_is_superuser(void)
{
	return geteuid() == 0;
}

uint32_t os_own_account(void)
{
	return geteuid();
}

char *os_sudo_user(void)
{
	const char *name = getenv("SUDO_USER");
	struct jw_account account = {0};
	char *found = NULL;

	if (os_is_superuser() && name && strcmp(name, "root") != 0 &&
		!os_find_account(NULL, name, 0, &account))
		found = mem_string(account.name);
	os_found_free(&account);
	return found;
}

int os_account_id(struct jw_error *err, char **ret_id)
{
	uv_passwd_t account;
	bool named = !uv_os_get_passwd(&account);
	char *id = named ? mem_string(account.username) : mem_printf("%lu", (unsigned long)geteuid());

	(void)err;
	if (named)
		uv_os_free_passwd(&account);
	*ret_id = id;
	return 0;
}

/* Drops everything: ids, groups and capabilities, so that none can come back. Groups come first,
 * because only root can change them. setuid() alone leaves the inheritable capabilities, and with
 * some securebits all of them. Sources: credentials(7), capabilities(7). */
static int drop_root(const struct jw_account *account)
{
	const uid_t owner = account->owner;
	const gid_t group = account->group;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	return initgroups(account->name, group) || setresgid(group, group, group) ||
				   setresuid(owner, owner, owner) || syscall(SYS_capset, &header, none)
			   ? -1
			   : 0;
}

struct child_answer {
	int result;
	struct jw_error why;
};

/* A child that is waited for, for so long at most; `slow` is told once after SLOW_S seconds. */
enum { SLOW_S = 10, GONE_MS = 2000 };
struct awaited {
	pid_t child;
	unsigned most_s;
	uint64_t begin_ns;
	void (*slow)(void *context, long process);
	void *context;
};

/* Waits until the child has written something. A child that stops itself has no terminal that could
 * continue it, so the wait has a limit. */
static int await_child(struct jw_error *err, int from, struct awaited *awaited)
{
	struct pollfd ready = {.fd = from, .events = POLLIN};

	while (poll(&ready, 1, 100) <= 0) {
		const uint64_t seconds = (os_monotonic_ns() - awaited->begin_ns) / 1000000000;
		siginfo_t stopped = {0};

		if (os_interrupted())
			return error_set(err, JW_ERR_INTERRUPTED, "interrupted");
		if (!waitid(P_PID, (id_t)awaited->child, &stopped, WSTOPPED | WNOHANG | WNOWAIT) &&
			stopped.si_pid)
			return error_set(err, JW_ERR_IO, "the process that acted as that account was stopped");
		if (seconds >= awaited->most_s)
			return error_set(err, JW_ERR_LIMIT,
							 "the process that acted as that account took longer than %u s",
							 awaited->most_s);
		if (seconds >= SLOW_S && awaited->slow) {
			awaited->slow(awaited->context, awaited->child);
			awaited->slow = NULL;
		}
	}
	return 0;
}

/* Reads everything that the child writes within the time. */
static int read_answer(struct jw_error *err, int from, struct awaited *awaited,
					   struct child_answer *child_answer, struct buf *answer)
{
	struct buf all = BUF_MAX(answer->most + sizeof *child_answer);
	uint8_t bytes[4096];
	size_t got;
	int result;

	do {
		result = await_child(err, from, awaited) ||
						 os_fd_read_some(err, from, bytes, sizeof bytes, &got) ||
						 (got && buf_append(err, &all, bytes, got))
					 ? -1
					 : 0;
	} while (!result && got);
	if (!result && all.size < sizeof *child_answer)
		result = error_set(err, JW_ERR_IO, "the process that acted as that account ended early");
	if (!result) {
		memcpy(child_answer, all.data, sizeof *child_answer);
		child_answer->why.message[sizeof child_answer->why.message - 1] = '\0';
		/* The account may interrupt its process, but not this one. */
		if (child_answer->why.code == JW_ERR_INTERRUPTED)
			child_answer->why.code = JW_ERR_IO;
		result = buf_append(err, answer, all.data + sizeof *child_answer,
							all.size - sizeof *child_answer);
	}
	buf_free(&all);
	return result;
}

/* Removes everything of root's from the child: the terminal, descriptors, variables. Their memory
 * is cleared, too, because the kernel shows a process's environment as it was at its start. */
static int leave_root_behind(struct jw_error *err, const struct jw_account *account, int answers,
							 int keeps)
{
	const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	const unsigned kept = keeps < 0 ? 2 : (unsigned)keeps;

	if (setsid() < 0 || nowhere < 0 || dup2(answers, 1) < 0 || dup2(nowhere, 0) < 0 ||
		dup2(nowhere, 2) < 0 || (kept > 3 && syscall(SYS_close_range, 3U, kept - 1, 0U)) ||
		syscall(SYS_close_range, kept + 1, ~0U, 0U))
		return posix_error(err, account->name);
	for (char **variable = environ; *variable; variable++)
		explicit_bzero(*variable, strlen(*variable));
	(void)clearenv();
	if (os_env_set(err, "HOME", account->home) || os_env_set(err, "USER", account->name) ||
		os_env_set(err, "LOGNAME", account->name) || os_env_set(err, "PATH", "/usr/bin:/bin"))
		return -1;
	return drop_root(account) ? posix_error(err, account->name) : 0;
}

/* Ends the child. It is left to init if it does not end, because the account's own FUSE file system
 * does not answer it, or because another process of the account traces it and does not let it go.
 */
static void end_child(pid_t child)
{
	(void)kill(child, SIGKILL);
	for (int ms = 0; ms < GONE_MS && waitpid(child, NULL, WNOHANG) == 0; ms++)
		(void)poll(NULL, 0, 1);
}

int os_work_as(struct jw_error *err, const struct jw_account *account, int keeps, unsigned most_s,
			   int (*work)(struct jw_error *err, void *context, struct buf *answer),
			   void (*slow)(void *context, long process), void *context, struct buf *answer)
{
	struct awaited awaited = {
		.most_s = most_s, .begin_ns = os_monotonic_ns(), .slow = slow, .context = context};
	struct child_answer child_answer = {.result = -1};
	int ends[2], result;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return posix_error(err, account->name);
	child = fork();
	if (!child) {
		if (!leave_root_behind(&child_answer.why, account, ends[1], keeps)) {
			os_die_with_parent();
			child_answer.result = work(&child_answer.why, context, answer);
		}
		if (!os_fd_write(NULL, 1, &child_answer, sizeof child_answer))
			(void)os_fd_write(NULL, 1, answer->data, answer->size);
		_exit(0);
	}
	(void)close(ends[1]);
	awaited.child = child;
	result = child < 0 ? posix_error(err, account->name)
					   : read_answer(err, ends[0], &awaited, &child_answer, answer);
	(void)close(ends[0]);
	if (child > 0)
		end_child(child);
	return result ? -1 : child_answer.result ? error_copy(err, &child_answer.why) : 0;
}

bool jw_is_administrator(void)
{
	return geteuid() == 0;
}

static struct jw_account account_of(const struct passwd *entry)
{
	return (struct jw_account){.name = mem_string(entry->pw_name),
							   .home = mem_string(entry->pw_dir),
							   .id = mem_printf("%lu", (unsigned long)entry->pw_uid),
							   .owner = entry->pw_uid,
							   .group = entry->pw_gid};
}

struct id_range {
	unsigned long least, most;
};

/* Reads "UID_MIN 1000". Source: login.defs(5). */
static struct id_range people_range(void)
{
	struct id_range range = {1000, 60000}; /* defaults of shadow if the file does not say */
	char *path = posix_system_path("/etc/login.defs"), line[256];
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof line, file)) {
		(void)sscanf(line, " UID_MIN%*[ \t]%lu", &range.least); /* NOLINT(cert-err34-c) */
		(void)sscanf(line, " UID_MAX%*[ \t]%lu", &range.most);  /* NOLINT(cert-err34-c) */
	}
	if (file)
		(void)fclose(file);
	mem_free(path);
	return range;
}

/* Does not ask a FUSE file system that is mounted there, which may never answer. */
static bool is_folder_of_account(const char *path)
{
	struct statx native;

	return path[0] == '/' && path[1] &&
		   !syscall(SYS_statx, AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &native) &&
		   S_ISDIR(native.stx_mode);
}

/* Opens the list with which tests replace the system's. */
static FILE *list_of_test(void)
{
	char *path;
	FILE *file;

	if (!getenv("JITWARM_SYSTEM_ROOT"))
		return NULL;
	path = posix_system_path("/etc/passwd");
	file = fopen(path, "re");
	mem_free(path);
	return file;
}

int jw_accounts_people(struct jw_error *err, struct jw_accounts *ret_accounts)
{
	const struct id_range range = people_range();
	struct jw_accounts accounts = {0};
	const struct passwd *entry;
	FILE *file = list_of_test();
	int result = 0;

	posix_lists_begin();
	if (!file)
		setpwent();
	while (!result && (entry = file ? fgetpwent(file) : getpwent()))
		if (entry->pw_uid && entry->pw_uid >= range.least && entry->pw_uid <= range.most &&
			is_folder_of_account(entry->pw_dir)) {
			const struct jw_account account = account_of(entry);

			result = accounts_add(err, &accounts, &account);
		}
	if (file)
		(void)fclose(file);
	else
		endpwent();
	posix_lists_end();
	if (result)
		jw_accounts_free(&accounts);
	else
		*ret_accounts = accounts;
	return result;
}

int os_account_cache_dir(struct jw_error *err, const struct jw_account *account, char **ret_path)
{
	return os_driver_cache_dir(err, account->home, ret_path);
}

int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct jw_account *ret_account)
{
	const struct passwd *entry = NULL;
	FILE *file = list_of_test();

	posix_lists_begin();
	while (file && (entry = fgetpwent(file)) &&
		   (name ? strcmp(entry->pw_name, name) != 0 : entry->pw_uid != owner))
		;
	if (!file)
		entry = name ? getpwnam(name) : getpwuid(owner);
	if (entry)
		*ret_account = account_of(entry);
	else if (name)
		error_set(err, JW_ERR_NOT_FOUND, "%.100s: no such account", name);
	else
		error_set(err, JW_ERR_NOT_FOUND, "account %u has no name on this machine", owner);
	if (file)
		(void)fclose(file);
	posix_lists_end();
	return entry ? 0 : -1;
}
