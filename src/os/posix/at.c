#include "os/posix/at.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/posix/posix.h"
#include "os/posix/rights.h"

/* ---- directories that only the superuser controls, with all their parents */

enum { SURE = 128, MOST_SURE = 256, MOST_AGE_NS = 100000000 };

/* A walk takes three calls for each level, and most paths lie in few directories. Only the
 * superuser can give one of these to another account; the entry expires soon nevertheless. */
static _Thread_local struct {
	char path[MOST_SURE];
	uint64_t since_ns;
	unsigned age; /* at_forget */
} known[SURE];
static atomic_uint present_age;

void at_forget(void)
{
	(void)atomic_fetch_add(&present_age, 1);
}

/* "/a/../b", "/a/./b", "/a/.", "/a//b" and "/a/" are walked. */
static bool is_normal(const char *path)
{
	return path[0] == '/' && !strstr(path, "/..") && !strstr(path, "/./") && !strstr(path, "//") &&
		   !text_ends(path, "/.") && !text_ends(path, "/");
}

/* Of the directory that holds the path's last name; 0: not to be looked up. */
static size_t directory_length(const char *path)
{
	return is_normal(path) ? (size_t)(strrchr(path, '/') - path) : 0;
}

static size_t directory_place_of(const char *path, size_t length)
{
	return fnv_update(FNV_START, path, length) % SURE;
}

static bool is_sure(const char *path, size_t length)
{
	const size_t at = directory_place_of(path, length);

	return length && length < MOST_SURE && !strncmp(known[at].path, path, length) &&
		   !known[at].path[length] && known[at].age == atomic_load(&present_age) &&
		   os_monotonic_ns() - known[at].since_ns < MOST_AGE_NS;
}

/* Of the longest part of the path, above its last name, that is known. */
static size_t sure_length(const char *path)
{
	size_t length = directory_length(path);

	while (length && !is_sure(path, length))
		while (path[--length] != '/')
			;
	return length;
}

static void note_sure(const char *path, size_t length, unsigned age)
{
	const size_t at = directory_place_of(path, length);

	if (length >= MOST_SURE)
		return;
	memcpy(known[at].path, path, length);
	known[at].path[length] = '\0';
	known[at].since_ns = os_monotonic_ns();
	known[at].age = age;
}

/* ---- a folder in which no link is followed */

static char *closed; /* NULL: there is none */

void os_follow_none_below(const char *folder)
{
	char *path = mem_string(folder);
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	mem_free(closed);
	closed = path;
}

/* The length of the folder's path and of the separators behind it; 0: `path` is not below it. */
static size_t closed_length(const char *path)
{
	size_t length = closed ? strlen(closed) : 0;

	if (!length || strncmp(path, closed, length) != 0 ||
		(closed[length - 1] != '/' && path[length] != '/'))
		return 0;
	length += strspn(path + length, "/");
	return path[length] ? length : 0;
}

/* By descriptors, so that a link that is put there meanwhile is not followed either. What is
 * missing is left to the actual call. */
static int walk_closed(struct jw_error *err, const char *path, size_t length, struct at *at)
{
	char name[NAME_MAX + 1];
	int dir = open(closed, O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	struct stat stat;

	at->guarded = true;
	for (at->name = path + length; dir >= 0; dir = next) {
		const size_t units = strcspn(at->name, "/");

		at->dir = at->walk.dir = dir;
		if (!at->name[units]) {
			const size_t above = (size_t)(at->name - path);

			at->walk.known = above <= sizeof at->walk.walked;
			if (at->walk.known)
				text_copy(at->walk.walked, above, path);
			return 0;
		}
		errno = ENAMETOOLONG;
		if (units > NAME_MAX)
			break;
		text_copy(name, units + 1, at->name);
		next = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			break;
		(void)close(dir);
		at->dir = at->walk.dir = next;
		if (!fstat(next, &stat) && S_ISLNK(stat.st_mode))
			return error_set(err, JW_ERR_IO, "%s: a link is not followed there", path);
		at->name += units + 1;
	}
	return posix_error(err, path);
}

/* ---- one path */

static bool is_link(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISLNK(stat.st_mode);
}

int at_enter(struct jw_error *err, const char *path, enum at_last last, struct at *at)
{
	const size_t length = directory_length(path), below = closed_length(path);
	const unsigned age = atomic_load(&present_age);
	size_t sure;

	at->dir = AT_FDCWD;
	at->name = path;
	at->owner = geteuid();
	at->own = true;
	at->foreign = at->guarded = false;
	walk_begin(&at->walk, path, last != AT_LAST_KEPT, last == AT_LAST_ENTERED);
	if (!*path)
		return 0;
	if (!rights_are_roots()) {
		if (!below || !walk_closed(err, path, below, at))
			return 0;
		walk_end(&at->walk);
		return -1;
	}
	sure = sure_length(path);
	if (sure && sure == length &&
		(last == AT_LAST_KEPT || (last == AT_LAST_FOLLOWED && !is_link(path))))
		return 0;
	if (walk_path(err, &at->walk, sure)) {
		walk_end(&at->walk);
		return -1;
	}
	at->dir = at->walk.dir;
	at->name = *at->walk.rest ? at->walk.rest : ".";
	at->owner = at->walk.owner;
	at->foreign = at->walk.acts;
	at->guarded = !at->walk.stuck && !at->walk.owner && at->walk.shared;
	at->own = at->walk.sure && !at->walk.stuck;
	if (length && at->own && !at->guarded && !at->walk.links)
		note_sure(path, *at->walk.rest ? length : strlen(path), age);
	return 0;
}

void at_leave(struct at *at)
{
	walk_end(&at->walk);
	at->walk.dir = -1;
	at->walk.acts = false;
}

int at_find(struct jw_error *err, const char *path, enum at_last last, struct at *ret_at)
{
	if (at_enter(err, path, last, ret_at))
		return -1;
	if (ret_at->walk.acts)
		rights_return();
	ret_at->walk.acts = false;
	return 0;
}

int at_act(struct jw_error *err, struct at *at)
{
	if (!at->foreign)
		return 0;
	if (rights_take(err, at->owner, at->walk.group))
		return -1;
	at->walk.acts = true;
	return 0;
}

int at_act_in(struct jw_error *err, const char *path, int dir, bool *ret_acts)
{
	struct stat stat;

	*ret_acts = false;
	if (!rights_are_roots())
		return 0;
	if (fstat(dir, &stat))
		return posix_error(err, path);
	if (!stat.st_uid)
		return 0;
	if (rights_take(err, stat.st_uid, stat.st_gid))
		return error_prefix(err, "%s", path);
	*ret_acts = true;
	return 0;
}

/* ---- calls that guard */

/* A second name may belong to a file elsewhere that another account has linked to. */
static bool has_another_name(int fd)
{
	struct stat stat;

	return fstat(fd, &stat) || (!S_ISDIR(stat.st_mode) && stat.st_nlink > 1);
}

static int refuse_descriptor(int fd)
{
	(void)close(fd);
	errno = EPERM;
	return -1;
}

int at_stat(const struct at *at, struct stat *ret_stat)
{
	return fstatat(at->dir, at->name, ret_stat, at->guarded ? AT_SYMLINK_NOFOLLOW : 0);
}

int at_open(const struct at *at, int flags, mode_t mode)
{
	int fd = openat(at->dir, at->name, flags | O_CLOEXEC | (at->guarded ? O_NOFOLLOW : 0), mode);

	if (fd < 0 || !at->guarded || (flags & O_ACCMODE) == O_RDONLY || !has_another_name(fd))
		return fd;
	return refuse_descriptor(fd);
}

int at_set_mode(const struct at *at, mode_t mode)
{
	int fd, result;

	if (!at->guarded)
		return fchmodat(at->dir, at->name, mode, 0);
	fd = at_open(at, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return -1;
	if (has_another_name(fd))
		return refuse_descriptor(fd);
	result = fchmod(fd, mode);
	(void)close(fd);
	return result;
}

char *at_real_path(const struct at *at)
{
	const char *walked = at->walk.walked;

	if (at->name[0] == '/' || !at->walk.known)
		return mem_string(at->name);
	return strcmp(at->name, ".") != 0 ? mem_printf("%s/%s", walked, at->name)
									  : mem_string(*walked ? walked : "/");
}
