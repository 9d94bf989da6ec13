#include "os/posix/at.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/path_calls.h"
#include "os/posix/posix.h"

enum { MAX_CLOSED = 16 };

/* The folders of os_follow_none_below. */
static struct closed {
	char *given; /* as the caller named it, without a separator at its end */
	char *real;  /* without links, as it was then */
	size_t own;  /* below this part of `real` every folder must be the superuser's; 0: none */
	enum os_below below;
} closed[MAX_CLOSED];
static size_t closed_count;
static bool closed_to_readers, reads_ours; /* whether readers ask for these folders */

const char *os_follow_none_below(const char *folder, enum os_below below)
{
	char *given = mem_string(folder), *nearest, real[PATH_MAX];
	char *followed = NULL;
	size_t length = strlen(given), there, own;

	closed_to_readers = closed_to_readers || below == OS_BELOW_SHARED;
	reads_ours = reads_ours || (below == OS_BELOW_OWN && geteuid() == 0);
	while (length > 1 && given[length - 1] == '/')
		given[--length] = '\0';
	/* A missing part will be made later; a link that appears there in between is not followed. */
	nearest = os_nearest(given);
	there = !strncmp(given, nearest, strlen(nearest)) ? strlen(nearest) : 0;
	if (closed_count < MAX_CLOSED && realpath(nearest, real)) {
		followed = given[there] ? os_join(real, given + there) : mem_string(real);
		own = below == OS_BELOW_SHARED ? 0 : strlen(real);
		closed[closed_count++] = (struct closed){mem_string(given), followed, own, below};
		/* Callers may name it by its real path, too. */
		if (closed_count < MAX_CLOSED && strcmp(given, followed) != 0)
			closed[closed_count++] =
				(struct closed){mem_string(followed), mem_string(followed), own, below};
	}
	mem_free(nearest);
	mem_free(given);
	return followed;
}

/* Returns the innermost folder of os_follow_none_below that the path is below; *ret_rest is the
 * rest of the path. */
static const struct closed *closed_of(const char *path, const char **ret_rest)
{
	const struct closed *innermost = NULL;
	size_t most = 0;

	for (size_t i = 0; i < closed_count; i++) {
		const size_t length = strlen(closed[i].given);
		const char *rest;

		if (length <= most || strncmp(path, closed[i].given, length) != 0 ||
			(closed[i].given[length - 1] != '/' && path[length] != '/'))
			continue;
		rest = path + length + strspn(path + length, "/");
		if (!*rest)
			continue;
		innermost = &closed[i];
		most = length;
		*ret_rest = rest;
	}
	return innermost;
}

/* Finds such a folder, NULL if there is none, and fills in the path by its real name. */
static int find_closed(struct jw_error *err, const char *path, char ret_text[PATH_MAX],
					   const struct closed **ret_folder)
{
	char *whole = NULL;
	const char *rest = NULL;
	int length = 0;

	*ret_folder = NULL;
	if (closed_count && !os_absolute(NULL, path, &whole))
		*ret_folder = closed_of(whole, &rest);
	if (*ret_folder)
		length = snprintf(ret_text, PATH_MAX, "%s/%s", (*ret_folder)->real, rest);
	mem_free(whole);
	if (length < PATH_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return posix_error(err, path);
}

bool path_follows_none(const char *path)
{
	const struct closed *folder;
	char text[PATH_MAX];

	return find_closed(NULL, path, text, &folder) || folder;
}

/* Checks a folder on the way to `path`, which `part` names; with `folder` it must be the
 * superuser's. */
static int check_part(struct jw_error *err, const char *path, const char *part,
					  const struct closed *folder, const struct stat *stat)
{
	struct os_stranger stranger;
	char text[OS_STRANGER_TEXT], shown[PATH_MAX];

	if (S_ISLNK(stat->st_mode))
		return error_set(err, JW_ERR_IO,
						 "%s: a symlink, which jitwarm does not follow in this folder", path);
	if (!folder || !posix_finds_stranger(part, stat, folder->below == OS_BELOW_OWN, &stranger))
		return 0;
	(void)os_stranger_text(text, &stranger);
	return folder->below == OS_BELOW_OUTPUT
			   ? error_set(err, JW_ERR_IO,
						   "%.300s; root changes nothing there: name another file or folder", text)
			   : error_set(err, JW_ERR_IO,
						   "%s: %s, and root changes nothing there; delete that folder, or see "
						   "“jitwarm doctor”",
						   text_unquoted(shown, sizeof shown, path), text);
}

/* Walks by descriptors, so that a link that appears in between is not followed either. */
static int walk(struct jw_error *err, const char *path, const struct closed *folder, bool writes,
				struct at *at)
{
	const size_t own = writes ? folder->own : 0;
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
			result = check_part(err, path, at->text, below ? folder : NULL, &stat);
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
	const struct closed *folder = NULL;

	if ((writes || closed_to_readers || reads_ours) && find_closed(err, path, at->text, &folder))
		return -1;
	at->dir = AT_FDCWD;
	at->name = path;
	/* An index has no code, and NVIDIA's driver lets everybody write to it who may read it. */
	at->ours = folder && folder->below == OS_BELOW_OWN && !writes && reads_ours &&
			   strcmp(at->text + strlen(folder->real), "/index") != 0;
	if (!writes && !closed_to_readers)
		folder = NULL;
	at->own = folder && writes && folder->own;
	at->others = writes && geteuid() == 0 && (!folder || folder->below == OS_BELOW_OUTPUT);
	at->guarded = folder || at->others;
	return folder ? walk(err, path, folder, writes, at) : 0;
}

bool at_is_in_closed(const char *path)
{
	char *below = os_join(path, "any");
	const bool is = path_follows_none(below);

	mem_free(below);
	return is;
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
	struct os_stranger stranger;

	if (at->ours && (S_ISLNK(stat->st_mode) ||
					 (S_ISREG(stat->st_mode) &&
					  posix_finds_stranger(at->dir == AT_FDCWD ? at->name : at->text, stat,
										   /* lasting= */ true, &stranger))))
		return EOWNERDEAD;
	if (!S_ISREG(stat->st_mode) && !S_ISDIR(stat->st_mode))
		return ENODEV;
	if (writes && (at->others || at->own) && posix_is_stranger(stat->st_uid))
		return EOWNERDEAD;
	return at->guarded && writes && S_ISREG(stat->st_mode) && stat->st_nlink > 1 ? EMLINK : 0;
}

int at_open(const struct at *at, int flags, mode_t mode)
{
	const bool writes = (flags & O_ACCMODE) != O_RDONLY;
	int link = at->guarded || at->ours ? O_NOFOLLOW : 0;
	bool exchanged = false;
	struct stat stat, now = {0};
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
	reason = fstat(look, &stat) ? errno : 0;
	/* A reader follows the superuser's own link. */
	if (!reason && !at->guarded && S_ISLNK(stat.st_mode) && !posix_is_stranger(stat.st_uid)) {
		link = 0;
		(void)close(look);
		look = openat(at->dir, at->name, O_PATH | O_CLOEXEC);
		reason = look < 0 || fstat(look, &stat) ? errno : 0;
	}
	reason = reason ? reason : refusal(at, &stat, writes);
	(void)snprintf(again, sizeof again, "/proc/self/fd/%d", look);
	fd = reason ? -1 : openat(AT_FDCWD, again, flags, mode);
	if (!reason && fd < 0)
		reason = errno;
	/* Without /proc the name is opened again, and nothing is changed before its file is known to
	 * be the same; `look` keeps the inode's number from another file. */
	if (reason == ENOENT) {
		fd = openat(at->dir, at->name, (flags & ~(O_CREAT | O_TRUNC)) | O_NONBLOCK | link);
		reason = fd < 0 || fstat(fd, &now) ? errno : 0;
		exchanged = !reason && (now.st_dev != stat.st_dev || now.st_ino != stat.st_ino);
		if (!reason && !exchanged && flags & O_TRUNC && ftruncate(fd, 0))
			reason = errno;
		if (fd >= 0 && (reason || exchanged)) {
			(void)close(fd);
			fd = -1;
		}
	}
	if (look >= 0)
		(void)close(look);
	if (exchanged)
		return at_open(at, flags, mode);
	if (fd < 0 && reason)
		errno = reason;
	return fd;
}
