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
#include "os/identity.h"
#include "os/posix/posix.h"

enum { MAX_LINKS = 40, MAX_WALK = 4 * PATH_MAX };

/* Writing to a device such as /dev/null does not change it. */
static bool is_open_to_others(const struct stat *stat)
{
	return !S_ISLNK(stat->st_mode) && !S_ISCHR(stat->st_mode) &&
		   stat->st_mode & (S_IWGRP | S_IWOTH);
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
		*ret_part = (struct os_part){mem_string(path), stat->st_uid, is_sticky(stat), 0};
	return -1;
}

/* Judges a part that is missing, with the rest of the path, by the folder where it is missing. */
static int check_missing(struct jw_error *err, const char *path, const char *rest, bool in_sticky,
						 struct os_part *ret_part)
{
	unsigned names = 1;

	for (size_t name; rest += strspn(rest, "/"), name = strcspn(rest, "/"); rest += name, names++)
		/* The folder above is known only when the part is there. */
		if (name == 2 && !memcmp(rest, "..", 2))
			return error_set(err, JW_ERR_IO, "%.700s is missing, and “..” follows", path);
	if (!in_sticky)
		return 0;
	if (ret_part)
		*ret_part = (struct os_part){mem_string(path), 0, true, names};
	return error_set(err, JW_ERR_IO, "%.700s is missing, and other accounts can make it", path);
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
			return errno == ENOENT || errno == ENOTDIR
					   ? check_missing(err, at, next, in_sticky, ret_part)
					   : posix_error(err, at);
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
		if (!name && is_sticky(&stat))
			return refuse(err, at, &stat, ret_part);
		if (!name) {
			if (ret_part)
				ret_part->sticky = in_sticky;
			return 0;
		}
		in_sticky = is_sticky(&stat);
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

bool posix_root_is_account(const char *map)
{
	unsigned long inside, outside, count;
	int length;

	for (; *map; map += length) {
		length = 0;
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		if (sscanf(map, "%lu %lu %lu%n", &inside, &outside, &count, &length) != 3 || !length)
			return false;
		if (!inside)
			return outside && count == 1;
	}
	return false;
}

/* fakeroot answers geteuid() only for the C library. Without /proc, root is taken for the
 * machine's. */
bool os_is_machine_root(void)
{
	enum { MAX_MAP = 1 << 16 }; /* 340 lines at most (user_namespaces(7)) */
	struct buf map = {0};
	bool is_account;

	if (syscall(SYS_geteuid))
		return false;
	is_account = !os_read_file(NULL, "/proc/self/uid_map", MAX_MAP, &map) &&
				 posix_root_is_account(buf_text(&map));
	buf_free(&map);
	return !is_account;
}
