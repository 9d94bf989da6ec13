#include "os/path_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uv.h>

#include "base/mem.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"

/* Opening alone can have effects: a watchdog restarts the machine, a tape rewinds, a pipe's writer
 * goes on. Other accounts' files name what the superuser reads. Who could swap the file between
 * this look and the open has its own rights alone there, and can make no devices. */
static bool is_device_or_pipe(const struct at *at)
{
	struct stat stat;

	return !fstatat(at->dir, at->name, &stat, 0) &&
		   (S_ISCHR(stat.st_mode) || S_ISBLK(stat.st_mode) || S_ISFIFO(stat.st_mode));
}

int path_open(struct jw_error *err, const char *path, int flags)
{
	const bool reads = (flags & O_ACCMODE) == O_RDONLY;
	struct at at;
	int fd = -1;

	if (at_enter(err, path, AT_LAST_FOLLOWED, &at))
		return -1;
	if (reads && is_device_or_pipe(&at)) {
		error_set(err, JW_ERR_UNSUPPORTED, "%s: is not a regular file", path);
	} else {
		do
			fd = at_open(&at, flags | O_NOCTTY, 0666);
		while (fd < 0 && errno == EINTR);
		if (fd < 0)
			posix_error(err, path);
	}
	at_leave(&at);
	return fd;
}

int path_make_dir(struct jw_error *err, const char *path, uint32_t mode)
{
	struct at at;
	int result;

	if (at_enter(err, path, AT_LAST_KEPT, &at))
		return -1;
	result = mkdirat(at.dir, at.name, (mode_t)mode) ? posix_error(err, path) : 0;
	at_leave(&at);
	return result;
}

int path_remove_dir(struct jw_error *err, const char *path)
{
	struct at at;
	int result;

	if (at_enter(err, path, AT_LAST_KEPT, &at))
		return -1;
	result = unlinkat(at.dir, at.name, AT_REMOVEDIR) ? posix_error(err, path) : 0;
	at_leave(&at);
	at_forget();
	return result;
}

int path_set_owner(struct jw_error *err, const char *path, uint32_t owner, uint32_t group)
{
	struct at at;
	int result;

	if (at_enter(err, path, AT_LAST_KEPT, &at))
		return -1;
	result = at_set_owner(&at, owner, group) ? posix_error(err, path) : 0;
	at_leave(&at);
	at_forget();
	return result;
}

enum { LETTERS = 6, MOST_TRIES = 100 };

/* Chooses six letters that cannot be predicted. */
static int choose_letters(struct jw_error *err, const char *path, char *ret_letters)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t random[LETTERS];

	if (uv_random(NULL, NULL, random, sizeof random, 0, NULL))
		return error_set(err, JW_ERR_IO, "%s: no random numbers", path);
	for (size_t i = 0; i < LETTERS; i++)
		ret_letters[i] = letters[random[i] % (sizeof letters - 1)];
	return 0;
}

static int make_file(const struct at *at)
{
	return at_open(at, O_RDWR | O_CREAT | O_EXCL, 0600);
}

static int make_folder(const struct at *at)
{
	return mkdirat(at->dir, at->name, 0700);
}

/* Tries other letters while the name exists. */
static int make_new(struct jw_error *err, const char *path, char between,
					int (*make)(const struct at *at), char **ret_name)
{
	char *name = mem_printf(err, "%s%cXXXXXX", path, between);
	int made = -1, reason = EEXIST;

	for (int tries = 0; name && made < 0 && reason == EEXIST && tries < MOST_TRIES; tries++) {
		struct at at;

		if (choose_letters(err, path, name + strlen(name) - LETTERS) ||
			at_enter(err, name, AT_LAST_KEPT, &at))
			break;
		made = make(&at);
		reason = errno;
		if (made < 0)
			posix_error(err, path);
		at_leave(&at);
	}
	if (made < 0)
		mem_free(name);
	else
		*ret_name = name;
	return made;
}

int path_make_file(struct jw_error *err, const char *path, char **ret_name)
{
	return make_new(err, path, '.', make_file, ret_name);
}

int path_make_folder(struct jw_error *err, const char *path, char **ret_name)
{
	return make_new(err, path, '-', make_folder, ret_name);
}

bool path_is_link(const char *path)
{
	struct at at;
	struct stat stat;
	bool is;

	if (at_enter(NULL, path, AT_LAST_KEPT, &at))
		return false;
	is = !fstatat(at.dir, at.name, &stat, AT_SYMLINK_NOFOLLOW) && S_ISLNK(stat.st_mode);
	at_leave(&at);
	return is;
}

int path_make_private_folder(struct jw_error *err, const char *path, char **ret_name)
{
	return path_make_folder(err, path, ret_name);
}
