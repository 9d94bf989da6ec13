#include "os/folders.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <uv.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/posix/posix.h"

int os_home_dir(struct jw_error *err, char **ret_path)
{
	const char *home = getenv("HOME");
	uv_passwd_t account = {0};
	char *path;

	if ((!home || !*home) && !uv_os_get_passwd(&account))
		home = account.homedir;
	if (!home)
		return error_set(err, JW_ERR_NOT_FOUND, "no home directory: HOME is not set");
	path = mem_string(home);
	if (account.homedir)
		uv_os_free_passwd(&account);
	*ret_path = path;
	return 0;
}

static bool keeps_no_state;

void os_keep_no_state(bool none)
{
	keeps_no_state = none;
}

int os_state_dir(struct jw_error *err, char **ret_path)
{
	const char *own = getenv("JITWARM_STATE"), *base = getenv("XDG_STATE_HOME");
	char *home = NULL, *path = NULL;

	if (keeps_no_state)
		return error_set(err, JW_ERR_NOT_FOUND, "root keeps nothing in folders of other accounts");
	if (own && *own)
		path = mem_string(own);
	else if (base && *base == '/')
		path = os_join(base, "jitwarm");
	else if (!os_home_dir(err, &home))
		path = os_join(home, ".local/state/jitwarm");
	mem_free(home);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

int os_driver_cache_dir(struct jw_error *err, char **ret_path)
{
	const char *home = getenv("HOME");
	char *path;

	if (!home)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "HOME is not set: the driver caches nothing; set HOME or CUDA_CACHE_PATH");
	/* With an empty HOME, the driver's path begins with “/”, too. */
	path = os_join(*home ? home : "/", ".nv/ComputeCache");
	*ret_path = path;
	return 0;
}

/* An emulator of another machine (qemu-user) answers readlink() for the program that it runs, but
 * no walk by descriptors. */
int os_self_path(struct jw_error *err, char **ret_path)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	if (length < 0)
		return posix_error(err, "/proc/self/exe");
	path[length] = '\0';
	return os_real_path(err, path, ret_path);
}

/* Another account cannot rename this account's private folder to such a name. */
bool os_is_own_temp_dir(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISDIR(stat.st_mode) && stat.st_uid == geteuid() &&
		   !(stat.st_mode & 077);
}

char *os_temp_dir(struct jw_error *err)
{
	const char *base = getenv("TMPDIR");

	(void)err;
	return mem_string(base && *base ? base : "/tmp");
}
