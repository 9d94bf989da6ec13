/* Who could replace what a path leads to, by the owners and permissions of all that it passes. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/posix/posix.h"

/* Whether accounts other than the superuser may write to what `path` names. With an access list the
 * group's bits are the maximum that any of its entries allows; a list that cannot be looked for is
 * one. */
static bool is_shared(const char *path, const struct stat *stat)
{
	/* Members of root's group count as the superuser. */
	const bool shared =
		(stat->st_mode & S_IWOTH) || ((stat->st_mode & S_IWGRP) && stat->st_gid != 0);
	ssize_t size;

	if (shared || !(stat->st_mode & S_IWGRP))
		return shared;
	size = getxattr(path, "system.posix_acl_access", NULL, 0);
	return size < 0 ? errno != ENODATA && errno != ENOTSUP : size > 0;
}

enum { UNMAPPED = 65534 }; /* the id that a user namespace shows for accounts that it lacks */

/* Whether this user namespace lacks the account: then its files are shown as UNMAPPED's, and root
 * here has no power over them, links included. Elsewhere that number is a real account's (nobody).
 * Source: user_namespaces(7). */
static bool namespace_lacks(uid_t account)
{
	FILE *map = account == UNMAPPED ? fopen("/proc/self/uid_map", "re") : NULL;
	unsigned first, outside, count;
	bool lacks = map;
	char line[80];

	while (lacks && fgets(line, sizeof line, map))
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		lacks = sscanf(line, "%u %u %u", &first, &outside, &count) == 3 &&
				(account < first || account - first >= count);
	if (map)
		(void)fclose(map);
	return lacks;
}

enum { MOST_WAY_LINKS = 40, OWNER_TEXT = 64 };

struct way {
	uint32_t owner;
	bool lasting;
	int links;
	struct os_way *whose; /* what is asked; NULL: whether the way is safe */
	bool shared, sticky;  /* the last folder: others may write to it */
};

static int check_one(struct jw_error *err, const struct way *way, const char *path,
					 const struct stat *stat)
{
	char names[4096], owner[OWNER_TEXT];
	struct passwd room, *found = NULL;

	if (!stat->st_uid || stat->st_uid == way->owner) {
		if (S_ISLNK(stat->st_mode) || !is_shared(path, stat) ||
			(S_ISDIR(stat->st_mode) && (stat->st_mode & S_ISVTX) && !way->lasting))
			return 0;
		return error_set(err, JW_ERR_IO, "other accounts may write to %s", path);
	}
	if (!getpwuid_r(stat->st_uid, &room, names, sizeof names, &found) && found)
		(void)snprintf(owner, sizeof owner, "%s", found->pw_name);
	else
		(void)text_format(owner, sizeof owner, "account %lu", (unsigned long)stat->st_uid);
	return error_set(err, JW_ERR_IO, "%s belongs to %s", path, owner);
}

enum { ENDS = 1 }; /* of a walk: it has its answer */

static int ask_whose(struct jw_error *err, struct way *way, const char *path,
					 const struct stat *stat)
{
	if (stat->st_uid && !namespace_lacks(stat->st_uid)) {
		*way->whose = (struct os_way){.owner = stat->st_uid, .group = stat->st_gid};
		return ENDS;
	}
	/* In a folder that others may write to a second name may be theirs, and without the sticky bit
	 * any: they may have moved the link there. */
	if (S_ISLNK(stat->st_mode) && way->shared && (!way->sticky || stat->st_nlink > 1))
		return error_set(err, JW_ERR_IO,
						 "%s: is a link that another account may have put there: not followed",
						 path);
	if (S_ISDIR(stat->st_mode)) {
		way->shared = is_shared(path, stat);
		way->sticky = stat->st_mode & S_ISVTX;
	}
	return 0;
}

static int check_way(struct jw_error *err, struct way *way, const char *path, size_t safe);

/* Where a link leads; its folder is safe. */
static int check_target(struct jw_error *err, struct way *way, const char *link)
{
	char *target = mem_alloc(PATH_MAX), *folder = os_dir_name(link), *path = NULL;
	const bool counts = folder && ++way->links <= MOST_WAY_LINKS;
	int result = -1;

	errno = ELOOP;
	if (folder && (!counts || readlink(link, target, PATH_MAX - 1) < 0))
		posix_error(err, link);
	else if (counts)
		path = target[0] == '/' ? mem_string(target) : os_join(folder, target);
	if (path)
		result = check_way(err, way, path, target[0] == '/' ? 0 : strlen(folder));
	mem_free(path);
	mem_free(folder);
	mem_free(target);
	return result;
}

/* What lies behind the first `safe` bytes of the path, one after the other: all that is looked at
 * lies in folders that were found safe. */
static int check_way(struct jw_error *err, struct way *way, const char *path, size_t safe)
{
	int result = 0;

	for (size_t length = safe; !result && path[length];) {
		struct stat stat;
		char *part;

		length += strspn(path + length, "/");
		length += strcspn(path + length, "/");
		part = mem_string_n(path, length);
		/* What is missing, or cannot be reached, is nobody's. */
		if (lstat(part, &stat))
			result = way->whose ? ENDS : posix_error(err, part);
		else
			result =
				way->whose ? ask_whose(err, way, part, &stat) : check_one(err, way, part, &stat);
		if (!result && S_ISLNK(stat.st_mode))
			result = check_target(err, way, part);
		mem_free(part);
	}
	return result;
}

static int walk_whole(struct jw_error *err, struct way *way, const char *path)
{
	char directory[PATH_MAX], *whole;
	int result;

	if (path[0] != '/' && !getcwd(directory, sizeof directory))
		return posix_error(err, path);
	whole = path[0] == '/' ? mem_string(path) : os_join(directory, path);
	result = whole ? check_way(err, way, "/", 0) : -1;
	if (!result)
		result = check_way(err, way, whole, 0);
	mem_free(whole);
	return result;
}

int os_check_private(struct jw_error *err, const char *path, uint32_t owner, bool lasting)
{
	struct way way = {.owner = owner, .lasting = lasting};

	return walk_whole(err, &way, path);
}

int os_find_way(struct jw_error *err, const char *path, struct os_way *ret_way)
{
	struct way way = {.whose = ret_way};

	*ret_way = (struct os_way){0};
	if (geteuid() == 0 && walk_whole(err, &way, path) < 0)
		return -1;
	ret_way->shared = way.shared;
	return 0;
}
