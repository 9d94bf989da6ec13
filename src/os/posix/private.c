#include "os/private.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/posix/posix.h"
#include "os/posix/walk.h"

enum { MOST_WAY_LINKS = 40, OWNER_TEXT = 64 };

/* The path is walked from the root, so that everything examined lies in folders already found safe.
 */
struct way {
	uint32_t owner;
	bool lasting;
	char *here, *rest; /* the current folder, without links, and the rest of the path */
	int links;
};

static const char *owner_name(char *text, uid_t owner)
{
	char names[4096];
	struct passwd room, *found = NULL;

	if (!posix_names_are_hostile() && !getpwuid_r(owner, &room, names, sizeof names, &found) &&
		found)
		(void)snprintf(text, OWNER_TEXT, "%s", found->pw_name);
	else
		(void)snprintf(text, OWNER_TEXT, "account %lu", (unsigned long)owner);
	return text;
}

/* With an access list the group's bits are the maximum that any of its entries allows. */
static bool others_write(const char *path, const struct stat *stat)
{
	return walk_is_shared(stat) ||
		   ((stat->st_mode & S_IWGRP) && lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0);
}

static int check_owner(struct jw_error *err, const struct way *way, const char *path,
					   const struct stat *stat)
{
	char name[OWNER_TEXT];

	return !stat->st_uid || stat->st_uid == way->owner
			   ? 0
			   : error_set(err, JW_ERR_IO, "%s belongs to %s", path,
						   owner_name(name, stat->st_uid));
}

static int check_one(struct jw_error *err, const struct way *way, const char *path,
					 const struct stat *stat)
{
	if (check_owner(err, way, path, stat))
		return -1;
	if (S_ISLNK(stat->st_mode) || !others_write(path, stat) ||
		(S_ISDIR(stat->st_mode) && (stat->st_mode & S_ISVTX) && !way->lasting))
		return 0;
	return error_set(err, JW_ERR_IO, "other accounts may write to %s", path);
}

/* Puts the link's text before the rest of the path. */
static int follow_private_link(struct jw_error *err, struct way *way, const char *link)
{
	char target[PATH_MAX], *rest;
	ssize_t length;

	errno = ELOOP;
	length = ++way->links > MOST_WAY_LINKS ? -1 : readlink(link, target, sizeof target - 1);
	if (length < 0)
		return posix_error(err, link);
	target[length] = '\0';
	rest = mem_printf(err, "%s/%s", target, way->rest);
	if (!rest)
		return -1;
	mem_free(way->rest);
	way->rest = rest;
	if (target[0] == '/')
		way->here[0] = '\0';
	return 0;
}

static char *next_name(struct jw_error *err, struct way *way)
{
	const size_t skipped = strspn(way->rest, "/"), length = strcspn(way->rest + skipped, "/");
	char *name = mem_string_n(err, way->rest + skipped, length);

	if (name)
		memmove(way->rest, way->rest + skipped + length, strlen(way->rest + skipped + length) + 1);
	return name;
}

static void go_up(struct way *way)
{
	char *last = strrchr(way->here, '/');

	if (last)
		*last = '\0';
}

static int go_into(struct jw_error *err, struct way *way, const char *name)
{
	char *there = mem_printf(err, "%s/%s", way->here, name);
	struct stat stat;
	int result = -1;

	if (!there)
		return -1;
	if (lstat(there, &stat))
		posix_error(err, there);
	else if (!check_one(err, way, there, &stat))
		result = 0;
	if (!result && S_ISLNK(stat.st_mode)) {
		result = follow_private_link(err, way, there);
	} else if (!result) {
		mem_free(way->here);
		way->here = there;
		return 0;
	}
	mem_free(there);
	return result;
}

static int walk_way(struct jw_error *err, struct way *way)
{
	struct stat root;

	if (lstat("/", &root))
		return posix_error(err, "/");
	if (check_one(err, way, "/", &root))
		return -1;
	while (way->rest[strspn(way->rest, "/")]) {
		char *name = next_name(err, way);
		int result = name ? 0 : -1;

		if (name && !strcmp(name, ".."))
			go_up(way);
		else if (name && strcmp(name, ".") != 0)
			result = go_into(err, way, name);
		mem_free(name);
		if (result)
			return -1;
	}
	return 0;
}

int os_check_private(struct jw_error *err, const char *path, uint32_t owner, bool lasting)
{
	char directory[PATH_MAX];
	struct way way = {.owner = owner, .lasting = lasting};
	int result = -1;

	if (path[0] != '/' && !getcwd(directory, sizeof directory))
		return posix_error(err, path);
	way.here = mem_string(err, "");
	way.rest = path[0] == '/' ? mem_string(err, path) : mem_printf(err, "%s/%s", directory, path);
	if (way.here && way.rest)
		result = walk_way(err, &way);
	mem_free(way.here);
	mem_free(way.rest);
	return result;
}
