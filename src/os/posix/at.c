#include "os/posix/at.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/posix/posix.h"

enum { MAX_CLOSED = 8 };

/* The folders of os_follow_none_below. */
static struct closed {
	char *given; /* as the caller named it, without a separator at its end */
	char *real;  /* without links, as it was then */
	size_t own;  /* below this part of `real` every folder must be the superuser's; 0: none */
} closed[MAX_CLOSED];
static size_t closed_count;
static bool closed_to_readers;

const char *os_follow_none_below(const char *folder, bool reads)
{
	char *given = mem_string(folder), *nearest, real[PATH_MAX];
	char *followed = NULL;
	size_t length = strlen(given), there, own;

	closed_to_readers = closed_to_readers || reads;
	while (length > 1 && given[length - 1] == '/')
		given[--length] = '\0';
	/* A missing part will be made later; a link that appears there in between is not followed. */
	nearest = os_nearest(given);
	there = !strncmp(given, nearest, strlen(nearest)) ? strlen(nearest) : 0;
	if (closed_count < MAX_CLOSED && realpath(nearest, real)) {
		followed = given[there] ? os_join(real, given + there) : mem_string(real);
		own = reads ? 0 : strlen(real);
		closed[closed_count++] = (struct closed){mem_string(given), followed, own};
		/* Callers may name it by its real path, too. */
		if (closed_count < MAX_CLOSED && strcmp(given, followed) != 0)
			closed[closed_count++] =
				(struct closed){mem_string(followed), mem_string(followed), own};
	}
	mem_free(nearest);
	mem_free(given);
	return followed;
}

/* Returns the folder of os_follow_none_below that the path is below; *ret_rest is the rest of the
 * path. */
static const struct closed *closed_of(const char *path, const char **ret_rest)
{
	for (size_t i = 0; i < closed_count; i++) {
		const size_t length = strlen(closed[i].given);

		if (strncmp(path, closed[i].given, length) != 0 ||
			(closed[i].given[length - 1] != '/' && path[length] != '/'))
			continue;
		*ret_rest = path + length + strspn(path + length, "/");
		if (**ret_rest)
			return &closed[i];
	}
	return NULL;
}

/* Checks a folder on the way to `path`, which `part` names. */
static int check_part(struct jw_error *err, const char *path, const char *part, bool own,
					  const struct stat *stat)
{
	struct os_stranger stranger;
	char text[OS_STRANGER_TEXT];

	if (S_ISLNK(stat->st_mode))
		return error_set(err, JW_ERR_IO,
						 "%s: a symlink, which jitwarm does not follow in this folder", path);
	return own && posix_finds_stranger(part, stat, &stranger)
			   ? error_set(err, JW_ERR_IO,
						   "%s: %s, and root changes nothing there; delete that folder, or see "
						   "“jitwarm doctor”",
						   path, os_stranger_text(text, &stranger))
			   : 0;
}

/* Walks by descriptors, so that a link that appears in between is not followed either. Below the
 * first `own` bytes, each folder must be the superuser's, unless `own` is 0. */
static int walk(struct jw_error *err, const char *path, size_t own, struct at *at)
{
	char *part = at->text, *rest;

	at->dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (part += strspn(part, "/"); at->dir >= 0 && (rest = strchr(part, '/')); part = rest) {
		const bool below = own && (size_t)(part - at->text) >= own;
		int next, result = 0;
		struct stat stat;

		*rest = '\0';
		next = openat(at->dir, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		(void)close(at->dir);
		at->dir = next;
		if (next >= 0 && !fstat(next, &stat))
			result = check_part(err, path, at->text, below, &stat);
		if (result) {
			at_leave(at);
			return -1;
		}
		*rest = '/';
		rest += strspn(rest, "/");
	}
	at->name = part;
	return at->dir < 0 ? posix_error(err, path) : 0;
}

int at_enter(struct jw_error *err, const char *path, bool writes, struct at *at)
{
	const char *rest = path;
	const struct closed *folder = writes || closed_to_readers ? closed_of(path, &rest) : NULL;

	at->dir = AT_FDCWD;
	at->name = path;
	at->own = folder && writes && folder->own;
	at->guarded = folder || (writes && geteuid() == 0);
	if (!folder)
		return 0;
	if ((size_t)snprintf(at->text, sizeof at->text, "%s/%s", folder->real, rest) >=
		sizeof at->text) {
		errno = ENAMETOOLONG;
		return posix_error(err, path);
	}
	return walk(err, path, writes ? folder->own : 0, at);
}

void at_leave(struct at *at)
{
	const int reason = errno;

	if (at->dir >= 0)
		(void)close(at->dir);
	at->dir = -1;
	errno = reason;
}

static int refusal(const struct at *at, const struct stat *stat, bool writes)
{
	if (!S_ISREG(stat->st_mode) && !S_ISDIR(stat->st_mode))
		return ENODEV;
	return at->guarded && writes && S_ISREG(stat->st_mode) && stat->st_nlink > 1 ? EMLINK : 0;
}

int at_open(const struct at *at, int flags, mode_t mode)
{
	const bool writes = (flags & O_ACCMODE) != O_RDONLY;
	const int link = at->guarded ? O_NOFOLLOW : 0;
	struct stat stat;
	char again[40];
	int look, fd, reason;

	flags |= O_CLOEXEC;
	/* An attacker with our own rights gains nothing by exchanging the file between the check and
	 * the opening. */
	if (geteuid() != 0 && !at->guarded) {
		reason = fstatat(at->dir, at->name, &stat, 0) ? 0 : refusal(at, &stat, writes);
		errno = reason;
		return reason ? -1 : openat(at->dir, at->name, flags, mode);
	}
	look = openat(at->dir, at->name, O_PATH | O_CLOEXEC | link, 0);
	if (look < 0 && (!(flags & O_CREAT) || errno != ENOENT))
		return -1;
	if (look < 0) {
		/* A name that somebody else has taken meanwhile is looked at, too. */
		fd = openat(at->dir, at->name, flags | O_EXCL, mode);
		return fd < 0 && errno == EEXIST ? at_open(at, flags, mode) : fd;
	}
	reason = fstat(look, &stat) ? errno : refusal(at, &stat, writes);
	(void)snprintf(again, sizeof again, "/proc/self/fd/%d", look);
	fd = reason ? -1 : openat(AT_FDCWD, again, flags, mode);
	if (!reason && fd < 0)
		reason = errno;
	/* /proc is not mounted. */
	if (reason == ENOENT) {
		fd = openat(at->dir, at->name, (flags & ~O_CREAT) | link, mode);
		reason = fd < 0 ? errno : 0;
	}
	(void)close(look);
	if (fd < 0 && reason)
		errno = reason;
	return fd;
}
