#include "os/system.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/mem.h"
#include "base/text.h"
#include "os/accounts.h"
#include "os/file.h"
#include "os/posix/posix.h"

const char os_name[] = "linux";

uint64_t os_monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t os_cpu_ns(void)
{
	struct timespec used = {0};

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* "5.15.153.1-microsoft-standard-WSL2"; a kernel of one's own has another name, but the device all
 * the same. */
bool os_is_wsl(void)
{
	char *path = posix_system_path("/proc/sys/kernel/osrelease"),
		 *device = posix_system_path("/dev/dxg");
	char name[256] = "";

	if (path)
		name[os_read_head(path, name, sizeof name - 1)] = '\0';
	mem_free(path);
	path = device;
	if (strstr(name, "icrosoft") || strstr(name, "WSL") || (path && os_exists(path))) {
		mem_free(path);
		return true;
	}
	mem_free(path);
	return false;
}

int64_t os_now_s(void)
{
	return (int64_t)time(NULL);
}

char *posix_system_path(const char *path)
{
	const char *root = getenv("JITWARM_SYSTEM_ROOT");

	return mem_printf(NULL, "%s%s", root ? root : "", path);
}

void os_release_memory(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
}

void os_prefer_large_pages(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
	const uintptr_t large = 2 << 20;
	uintptr_t start = ((uintptr_t)memory + large - 1) / large * large,
			  end = ((uintptr_t)memory + size) / large * large;

	if (end > start)
		(void)madvise((uint8_t *)memory + (start - (uintptr_t)memory), end - start, MADV_HUGEPAGE);
#else
	(void)memory;
	(void)size;
#endif
}

char *os_env(const char *name)
{
	const char *value = getenv(name);

	return value ? mem_string(NULL, value) : NULL;
}

int os_env_set(struct jw_error *err, const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		return posix_error(err, name);
	return 0;
}

int os_home_dir(struct jw_error *err, char **ret_path)
{
	const char *home = getenv("HOME");
	struct passwd *account;

	if (!home || !*home) {
		account = getpwuid(geteuid());
		home = account ? account->pw_dir : NULL;
	}
	if (!home)
		return error_set(err, JW_ERR_NOT_FOUND, "no home directory: HOME is not set");
	*ret_path = mem_string(err, home);
	return *ret_path ? 0 : -1;
}

int os_state_dir(struct jw_error *err, char **ret_path)
{
	const char *own = getenv("JITWARM_STATE"), *base = getenv("XDG_STATE_HOME");
	char *home = NULL, *path = NULL;

	if (own && *own)
		path = mem_string(err, own);
	else if (base && *base == '/')
		path = mem_printf(err, "%s/jitwarm", base);
	else if (!os_home_dir(err, &home))
		path = mem_printf(err, "%s/.local/state/jitwarm", home);
	mem_free(home);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

int os_driver_cache_dir(struct jw_error *err, const char *home, char **ret_path)
{
	char *path;

	if (!home)
		home = getenv("HOME");
	if (!home)
		return error_set(err, JW_ERR_NOT_FOUND, "HOME is not set: the driver caches nothing");
	path = mem_printf(err, "%s/.nv/ComputeCache", home);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

int os_self_path(struct jw_error *err, char **ret_path)
{
	return os_real_path(err, "/proc/self/exe", ret_path);
}

int os_account(struct jw_error *err, struct os_account *ret_account)
{
	struct os_account account = {
		.superuser = geteuid() == 0, .owner = geteuid(), .group = getegid()};
	const char *name = getenv("SUDO_USER");
	struct passwd *user =
		account.superuser && name && *name && strcmp(name, "root") != 0 ? getpwnam(name) : NULL;

	if (user) {
		account.sudo_owner = user->pw_uid;
		account.sudo_group = user->pw_gid;
		account.sudo_user = mem_string(err, user->pw_name);
		account.sudo_home = mem_string(err, user->pw_dir);
		if (!account.sudo_user || !account.sudo_home) {
			os_account_free(&account);
			return -1;
		}
	}
	*ret_account = account;
	return 0;
}

int os_account_id(struct jw_error *err, char **ret_id)
{
	const struct passwd *account = getpwuid(geteuid());
	char *id = account ? mem_string(err, account->pw_name)
					   : mem_printf(err, "%lu", (unsigned long)geteuid());

	if (!id)
		return -1;
	*ret_id = id;
	return 0;
}

void os_account_free(struct os_account *account)
{
	mem_free(account->sudo_user);
	mem_free(account->sudo_home);
	*account = (struct os_account){0};
}

int os_become_sudo_user(struct jw_error *err, const struct os_account *account)
{
	static const char *const of_root[] = {"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
										  "XDG_CONFIG_HOME"};

	/* Groups first: without root they cannot be changed any more. */
	if (initgroups(account->sudo_user, account->sudo_group) || setgid(account->sudo_group) ||
		setuid(account->sudo_owner))
		return posix_error(err, account->sudo_user);
	for (size_t i = 0; i < sizeof of_root / sizeof *of_root; i++)
		(void)unsetenv(of_root[i]);
	if (os_env_set(err, "HOME", account->sudo_home) ||
		os_env_set(err, "USER", account->sudo_user) ||
		os_env_set(err, "LOGNAME", account->sudo_user))
		return -1;
	return 0;
}

/* Root's own groups, while we act as another account. */
static struct {
	gid_t *items;
	int count;
} kept;

static int keep_groups(struct jw_error *err)
{
	int count = kept.items ? 0 : getgroups(0, NULL);
	gid_t *items;

	if (kept.items)
		return 0;
	items = count < 0 ? NULL : mem_array(err, (size_t)count + 1, sizeof *items);
	if (!items)
		return -1;
	kept.count = getgroups(count, items);
	if (kept.count < 0) {
		mem_free(items);
		return posix_error(err, "this account's groups");
	}
	kept.items = items;
	return 0;
}

/* `name` NULL: without the account's other groups. */
static int act_as(struct jw_error *err, const char *name, uid_t owner, gid_t group)
{
	if (keep_groups(err))
		return -1;
	if (!(name ? initgroups(name, group) : setgroups(1, &group)) && !setegid(group) &&
		!seteuid(owner))
		return 0;
	posix_error(err, "acting as another account");
	os_act_as_self();
	return -1;
}

int os_act_as(struct jw_error *err, uint32_t owner, uint32_t group)
{
	return act_as(err, NULL, owner, group);
}

int os_act_as_account(struct jw_error *err, const struct jw_account *account)
{
	return act_as(err, account->name, account->owner, account->group);
}

void os_act_as_self(void)
{
	(void)!seteuid(getuid());
	(void)!setegid(getgid());
	if (kept.items)
		(void)!setgroups((size_t)kept.count, kept.items);
	mem_free(kept.items);
	kept.items = NULL;
}

char **os_arguments(int *argc, char **argv)
{
	(void)argc;
	return argv;
}

bool os_is_terminal(int fd)
{
	return isatty(fd) == 1;
}

unsigned os_terminal_columns(int fd)
{
	struct winsize size;

	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

void os_terminal_prepare(void)
{
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

int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got)
{
	ssize_t got;

	do
		got = read(fd, data, size);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return posix_error(err, "read");
	*ret_got = (size_t)got;
	return 0;
}

int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = write(fd, (const uint8_t *)data + done, size - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return posix_error(err, "write");
		done += (size_t)put;
	}
	return 0;
}

void os_die_with_parent(void)
{
	pid_t parent = getppid();

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have ended before the call above: then we belong to init, or to a subreaper.
	 */
	if (getppid() != parent)
		_exit(1);
}

void os_crash_quietly(void)
{
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}
