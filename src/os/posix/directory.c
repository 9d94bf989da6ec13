#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/path_calls.h"
#include "os/posix/posix.h"

/* Returns the kind of a directory's entry; `type` is its DT_. Follows a link; if the system cannot
 * resolve it (a file server that does not respond), it counts as a file, so that the caller's next
 * access reports the reason. */
static enum os_kind kind_of_entry(int directory, const char *name, unsigned char type)
{
	struct stat native;

	if (type == DT_REG)
		return OS_REGULAR;
	if (type == DT_DIR)
		return OS_DIRECTORY;
	if (fstatat(directory, name, &native, 0))
		return errno == ENOENT || errno == ENOTDIR ? OS_OTHER : OS_REGULAR;
	return S_ISREG(native.st_mode) ? OS_REGULAR : S_ISDIR(native.st_mode) ? OS_DIRECTORY : OS_OTHER;
}

int path_each(struct jw_error *err, const char *path, const char *prefix, unsigned how,
			  int (*take)(struct jw_error *err, void *context, const char *name,
						  const struct os_stat *stat),
			  void *context, struct os_stat *ret_stat)
{
	const int fd =
		open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (how & EACH_OF_NO_LINK ? O_NOFOLLOW : 0));
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat native;
	int result = 0;

	if (!directory || (ret_stat && fstat(fd, &native))) {
		posix_error(err, path);
		if (directory)
			(void)closedir(directory);
		else if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	if (ret_stat)
		posix_stat_of(&native, ret_stat);
	for (errno = 0; !result && (entry = readdir(directory)); errno = 0) {
		const char *name = entry->d_name;
		struct os_stat stat = {.kind = OS_OTHER};

		if (!strcmp(name, ".") || !strcmp(name, "..") || !text_starts(name, prefix))
			continue;
		if (how & EACH_FOLLOWED)
			stat.kind = kind_of_entry(fd, name, entry->d_type);
		else if (fstatat(fd, name, &native, AT_SYMLINK_NOFOLLOW))
			continue; /* it was removed in between */
		else if (S_ISREG(native.st_mode))
			stat.kind = OS_REGULAR;
		else if (S_ISDIR(native.st_mode))
			stat.kind = OS_DIRECTORY;
		if (!(how & EACH_FOLLOWED))
			stat.device = (uint64_t)native.st_dev;
		result = take(err, context, name, &stat);
	}
	if (!result && errno)
		result = posix_error(err, path);
	(void)closedir(directory);
	return result;
}

bool os_is_denied(const char *path)
{
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) && errno == EACCES;
}

int os_may_write(struct jw_error *err, const char *path)
{
	struct stat native;

	if (stat(path, &native) && errno == ENOENT && path_is_link(path))
		return error_set(err, JW_ERR_IO, "%s: is a symlink to a file that does not exist", path);
	if (stat(path, &native) ||
		faccessat(AT_FDCWD, path, R_OK | W_OK | (S_ISDIR(native.st_mode) ? X_OK : 0), AT_EACCESS))
		return posix_error(err, path);
	/* In a pseudo file system the superuser's rights mean nothing. */
	return S_ISDIR(native.st_mode) && os_is_made_up(path)
			   ? error_set(err, JW_ERR_UNSUPPORTED,
						   "%s: a pseudo file system, which keeps no files", path)
			   : 0;
}

/* jitwarm makes no deeper directories. */
enum { MAX_DEPTH = 64 };

static int remove_below(struct jw_error *err, int above, const char *name, const char *path,
						int depth);

/* Removes everything in an open directory. */
static int empty(struct jw_error *err, DIR *directory, const char *path, int depth)
{
	const int fd = dirfd(directory);
	struct dirent *entry;
	int result = 0;

	while (!result && (entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!unlinkat(fd, entry->d_name, 0) || errno == ENOENT)
			continue;
		if ((errno != EISDIR && errno != EPERM) || depth >= MAX_DEPTH)
			result = posix_error(err, path);
		else
			result = remove_below(err, fd, entry->d_name, path, depth + 1);
	}
	return result;
}

static int remove_below(struct jw_error *err, int above, const char *name, const char *path,
						int depth)
{
	DIR *directory;
	int fd, result;

	/* An empty folder can be removed even if no more files can be opened. */
	if (!unlinkat(above, name, AT_REMOVEDIR))
		return 0;
	fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		posix_error(err, path);
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	result = empty(err, directory, path, depth);
	(void)closedir(directory);
	if (!result && unlinkat(above, name, AT_REMOVEDIR) && errno != ENOENT)
		result = posix_error(err, path);
	return result;
}

int os_remove_tree(struct jw_error *err, const char *path)
{
	return unlinkat(AT_FDCWD, path, 0) && errno != ENOENT
			   ? remove_below(err, AT_FDCWD, path, path, 0)
			   : 0;
}

int os_real_path(struct jw_error *err, const char *path, char **ret_path)
{
	const int fd = open(path, O_PATH | O_CLOEXEC);
	char resolved[PATH_MAX];
	struct stat opened, named;
	/* The system's function looks at each part by its whole path, so its work grows with the square
	 * of their number. The kernel's answer can name another file if a part was renamed or mounted
	 * over meanwhile. */
	const bool known = fd >= 0 && posix_real_path(fd, resolved) && !fstat(fd, &opened) &&
					   !lstat(resolved, &named) && opened.st_dev == named.st_dev &&
					   opened.st_ino == named.st_ino;

	if (fd >= 0)
		(void)close(fd);
	if (!known && !realpath(path, resolved))
		return posix_error(err, path);
	*ret_path = mem_string(resolved);
	return 0;
}
