#include "os/private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/posix/posix.h"

enum { MAX_LINKS = 40, MAX_WALK = 4 * PATH_MAX };

static bool is_open_to_others(const struct stat *stat)
{
	return !S_ISLNK(stat->st_mode) && stat->st_mode & (S_IWGRP | S_IWOTH);
}

static bool is_sticky(const struct stat *stat)
{
	return S_ISDIR(stat->st_mode) && stat->st_mode & S_ISVTX && is_open_to_others(stat);
}

static int refuse(struct jw_error *err, const char *path, const struct stat *stat,
				  struct os_part *ret_part)
{
	struct os_account account = {0};
	char shown[PATH_MAX];

	(void)text_unquoted(shown, sizeof shown, path);
	if (!stat->st_uid)
		error_set(err, JW_ERR_IO, "other accounts may write to %.700s", shown);
	else if (!os_find_account(NULL, NULL, stat->st_uid, &account))
		error_set(err, JW_ERR_IO, "%.700s belongs to %s", shown, account.name);
	else
		error_set(err, JW_ERR_IO, "%.700s belongs to account %u", shown, stat->st_uid);
	os_account_free(&account);
	if (ret_part)
		*ret_part = (struct os_part){mem_string(path), stat->st_uid, is_sticky(stat)};
	return -1;
}

/* Shortens the path by its last part. */
static void go_up(char *path)
{
	char *last = strrchr(path, '/');

	last[last == path] = '\0';
}

/* The model is OpenSSH's safe_path, which looks at the resolved path alone; here the links count,
 * too, since jitwarm also writes. Each part lies in folders that were found to be root's, so nobody
 * else can exchange it meanwhile. */
int os_check_private(struct jw_error *err, const char *path, struct os_part *ret_part)
{
	char rest[MAX_WALK], at[PATH_MAX] = "/", target[PATH_MAX], *next = rest;
	const bool known = *path == '/' || getcwd(target, sizeof target);
	const int written =
		snprintf(rest, sizeof rest, "%s/%s", *path == '/' || !known ? "" : target, path);
	bool in_sticky = false;
	int links = 0;

	if (ret_part)
		*ret_part = (struct os_part){0};
	if (!known || written >= (int)sizeof rest)
		return error_set(err, JW_ERR_IO, "%.700s cannot be examined", path);
	for (;;) {
		size_t end = strlen(at), name;
		struct stat stat;

		if (lstat(at, &stat))
			return errno == ENOENT || errno == ENOTDIR ? 0 : posix_error(err, at);
		if (stat.st_uid || (is_open_to_others(&stat) && !is_sticky(&stat)))
			return refuse(err, at, &stat, ret_part);
		if (S_ISLNK(stat.st_mode)) {
			const ssize_t size = readlink(at, target, sizeof target);

			/* Others may have given root's link a second name in such a folder. */
			if (size < 0 || in_sticky || ++links > MAX_LINKS ||
				(size_t)size + strlen(next) + 2 > sizeof rest)
				return error_set(err, JW_ERR_IO, "%.700s: a symlink that root does not follow", at);
			memmove(rest + size + 1, next, strlen(next) + 1);
			memcpy(rest, target, (size_t)size);
			rest[size] = '/';
			next = rest;
			if (*target == '/')
				at[1] = '\0';
			else
				go_up(at);
			continue;
		}
		next += strspn(next, "/");
		name = strcspn(next, "/");
		in_sticky = is_sticky(&stat);
		if (!name)
			return in_sticky ? refuse(err, at, &stat, ret_part) : 0;
		if (name == 2 && !memcmp(next, "..", 2)) {
			go_up(at);
		} else if (name != 1 || *next != '.') {
			end += end > 1;
			if (end + name >= sizeof at)
				return error_set(err, JW_ERR_IO, "%.700s cannot be examined", path);
			at[end - 1] = '/';
			memcpy(at + end, next, name);
			at[end + name] = '\0';
		}
		next += name;
	}
}

bool os_would_be_in_sticky(const char *path)
{
	struct stat of_path;
	const bool missing = lstat(path, &of_path) && errno == ENOENT;
	char *nearest = os_nearest(path);
	const bool is = missing && !stat(nearest, &of_path) && is_sticky(&of_path);

	mem_free(nearest);
	return is;
}

/* Files of /proc/sys belong to the machine's root, whom an ordinary account's user namespace does
 * not map: there they belong to nobody. fakeroot answers geteuid() only for the C library. */
bool os_is_machine_root(void)
{
	struct stat stat;

	return !syscall(SYS_geteuid) && (lstat("/proc/sys/kernel/ostype", &stat) || !stat.st_uid);
}
