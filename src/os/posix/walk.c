#include "os/posix/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "os/posix/posix.h"
#include "os/posix/rights.h"

enum { MOST_LINKS = 40 };

/* Members of root's group count as the superuser. */
static bool mode_is_shared(const struct stat *stat)
{
	return (stat->st_mode & S_IWOTH) || ((stat->st_mode & S_IWGRP) && stat->st_gid != 0);
}

bool walk_is_shared(const char *path, const struct stat *stat)
{
	ssize_t size;

	if (mode_is_shared(stat) || !(stat->st_mode & S_IWGRP))
		return mode_is_shared(stat);
	size = getxattr(path, "system.posix_acl_access", NULL, 0);
	return size < 0 ? errno != ENODATA && errno != ENOTSUP : size > 0;
}

/* The superuser has no power over files of an account that this user namespace lacks. */
static int change_rights(struct jw_error *err, struct walk *walk, uid_t owner, gid_t group)
{
	struct jw_error why = {0};

	if (walk->acts && owner == walk->owner && group == walk->group)
		return 0;
	if (walk->acts)
		rights_return();
	walk->acts = false;
	walk->owner = owner;
	walk->group = group;
	if (!owner)
		return 0;
	walk->acts = !rights_take(&why, owner, group);
	if (walk->acts)
		return 0;
	walk->stuck = true;
	if (why.code == JW_ERR_UNSUPPORTED)
		return 0;
	(void)error_copy(err, &why);
	return error_prefix(err, "%s", walk->path);
}

/* Takes the descriptor over. */
static int enter_level(struct jw_error *err, struct walk *walk, int dir, const struct stat *stat)
{
	bool movable = walk->dir >= 0 && walk->shared && !(walk->stat.st_mode & S_ISVTX);
	char path[64];

	if (walk->dir >= 0)
		(void)close(walk->dir);
	walk->dir = dir;
	walk->stat = *stat;
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", dir);
	walk->shared = walk_is_shared(path, stat);
	walk->sure = walk->sure && !movable && !stat->st_uid;
	return change_rights(err, walk, stat->st_uid, stat->st_gid);
}

static int start_at(struct jw_error *err, struct walk *walk, const char *start)
{
	int dir = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat stat;

	if (dir < 0)
		return posix_error(err, walk->path);
	walk->sure = walk->known = start[0] == '/';
	walk->walked[0] = '\0';
	if (fstat(dir, &stat)) {
		posix_error(err, walk->path);
		(void)close(dir);
		return -1;
	}
	if (walk->dir >= 0)
		(void)close(walk->dir);
	walk->dir = -1;
	return enter_level(err, walk, dir, &stat);
}

static int too_long(struct jw_error *err, const struct walk *walk)
{
	errno = ENAMETOOLONG;
	return posix_error(err, walk->path);
}

static int note_step(struct jw_error *err, struct walk *walk, const char *name)
{
	char *last = walk->known ? strrchr(walk->walked, '/') : NULL;
	size_t length = strlen(walk->walked);

	if (!walk->known || !strcmp(name, "."))
		return 0;
	if (!strcmp(name, "..")) {
		if (last)
			*last = '\0';
		return 0;
	}
	if (length + 1 + strlen(name) >= sizeof walk->walked)
		return too_long(err, walk);
	walk->walked[length] = '/';
	memcpy(walk->walked + length + 1, name, strlen(name) + 1);
	return 0;
}

/* Follows a link that only the superuser can have made, by its text. */
static int follow_link(struct jw_error *err, struct walk *walk, const char *name,
					   const char *behind, const struct stat *link)
{
	char target[PATH_MAX];
	const size_t rest = strlen(behind) + 1;
	ssize_t length;

	if (walk->owner || link->st_uid) {
		walk->stuck = true;
		return walk->owner ? 0 : change_rights(err, walk, link->st_uid, link->st_gid);
	}
	/* In a directory that others may write to, a second name may be theirs, and without the sticky
	 * bit any name: they may have moved the link there. */
	errno = ELOOP;
	length = ++walk->links > MOST_LINKS ||
					 (walk->shared && (link->st_nlink > 1 || !(walk->stat.st_mode & S_ISVTX)))
				 ? -1
				 : readlinkat(walk->dir, name, target, sizeof target - 1);
	if (length < 0)
		return posix_error(err, walk->path);
	if ((size_t)length + rest > sizeof walk->text)
		return too_long(err, walk);
	memmove(walk->text + length, behind, rest);
	memcpy(walk->text, target, (size_t)length);
	walk->rest = walk->text;
	return walk->text[0] == '/' ? start_at(err, walk, "/") : 0;
}

/* Steps into `name`; `behind` is the rest, from the first separator on. Leaves it to the actual
 * call if it is missing or is not a directory. *ret_arrived: so is one that is there. */
static int step_into(struct jw_error *err, struct walk *walk, const char *name, const char *behind,
					 bool *ret_arrived)
{
	const bool last = !behind[strspn(behind, "/")];
	struct stat stat;
	int dir;

	if (last && !*behind && !walk->last_followed) {
		*ret_arrived = true;
		return 0;
	}
	dir = openat(walk->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &stat)) {
		if (dir >= 0)
			(void)close(dir);
		*ret_arrived = true;
		return 0;
	}
	if (S_ISLNK(stat.st_mode)) {
		(void)close(dir);
		return follow_link(err, walk, name, behind, &stat);
	}
	*ret_arrived = (last && !walk->last_entered) || !S_ISDIR(stat.st_mode);
	if (*ret_arrived) {
		(void)close(dir);
		return 0;
	}
	walk->rest = behind + strspn(behind, "/");
	if (!note_step(err, walk, name))
		return enter_level(err, walk, dir, &stat);
	(void)close(dir);
	return -1;
}

void walk_begin(struct walk *walk, const char *path, bool last_followed, bool last_entered)
{
	walk->path = path;
	walk->last_followed = last_followed;
	walk->last_entered = last_entered;
	walk->dir = -1;
	walk->owner = 0;
	walk->group = 0;
	walk->stuck = walk->acts = walk->sure = walk->known = walk->shared = false;
	walk->links = 0;
	walk->rest = walk->text;
}

/* Where a walk begins: the first `length` bytes are a directory's path without links. */
static int start_inside(struct jw_error *err, struct walk *walk, size_t length)
{
	walk->text[length] = '\0';
	if (start_at(err, walk, walk->text))
		return -1;
	memcpy(walk->walked, walk->text, length + 1);
	walk->rest = walk->text + length + 1;
	return 0;
}

int walk_path(struct jw_error *err, struct walk *walk, size_t sure)
{
	const size_t size = strlen(walk->path) + 1;
	bool arrived = false;

	if (size > sizeof walk->text)
		return too_long(err, walk);
	memcpy(walk->text, walk->path, size);
	if (sure ? start_inside(err, walk, sure)
			 : start_at(err, walk, walk->rest[0] == '/' ? "/" : "."))
		return -1;
	while (!arrived && !walk->stuck) {
		char name[NAME_MAX + 1];
		const char *end;

		walk->rest += strspn(walk->rest, "/");
		end = walk->rest + strcspn(walk->rest, "/");
		if (end == walk->rest || (walk->owner && !strncmp(walk->rest, "..", 2))) {
			walk->stuck = end != walk->rest;
			break;
		}
		if ((size_t)(end - walk->rest) > NAME_MAX)
			return too_long(err, walk);
		text_copy(name, (size_t)(end - walk->rest) + 1, walk->rest);
		if (step_into(err, walk, name, end, &arrived))
			return -1;
	}
	return 0;
}

void walk_end(struct walk *walk)
{
	int reason = errno;

	if (walk->acts)
		rights_return();
	if (walk->dir >= 0)
		(void)close(walk->dir);
	errno = reason;
}
