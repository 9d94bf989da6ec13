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
#include "os/names.h"
#include "os/posix/posix.h"

static enum os_kind kind_of(int directory, const struct dirent *entry)
{
	struct stat native;

	if (entry->d_type == DT_REG)
		return OS_REGULAR;
	if (entry->d_type == DT_DIR)
		return OS_DIRECTORY;
	if (fstatat(directory, entry->d_name, &native, 0))
		return OS_OTHER;
	return S_ISREG(native.st_mode) ? OS_REGULAR : S_ISDIR(native.st_mode) ? OS_DIRECTORY : OS_OTHER;
}

int os_list(struct jw_error *err, const char *path, struct os_names *ret_names)
{
	DIR *directory = opendir(path);
	struct named *found = NULL;
	size_t capacity = 0, count = 0;
	int result = -1;

	if (!directory)
		return posix_error(err, path);
	for (;;) {
		struct dirent *entry;

		errno = 0;
		entry = readdir(directory);
		if (!entry && errno) {
			posix_error(err, path);
			goto done;
		}
		if (!entry)
			break;
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (VEC_ROOM(err, found, capacity, count, NAMES_MOST))
			goto done;
		found[count].kind = kind_of(dirfd(directory), entry);
		found[count].name = mem_string(err, entry->d_name);
		if (!found[count].name)
			goto done;
		count++;
	}
	result = names_finish(err, found, count, ret_names);
done:
	for (size_t i = 0; result && i < count; i++)
		mem_free(found[i].name);
	mem_free(found);
	(void)closedir(directory);
	return result;
}

int os_may_write(struct jw_error *err, const char *path)
{
	struct stat native;
	int search;

	if (stat(path, &native)) {
		bool missing = errno == ENOENT;

		posix_error(err, path);
		return missing && !lstat(path, &native)
				   ? error_set(err, JW_ERR_IO, "%s: is a link that leads nowhere", path)
				   : -1;
	}
	/* Not access(): it uses the real account, and we may act as another one. */
	search = S_ISDIR(native.st_mode) ? X_OK : 0;
	return faccessat(AT_FDCWD, path, R_OK | W_OK | search, AT_EACCESS) ? posix_error(err, path) : 0;
}

int os_remove(struct jw_error *err, const char *path)
{
	return unlink(path) && errno != ENOENT ? posix_error(err, path) : 0;
}

/* jitwarm makes no deeper directories. */
enum { MOST_DEPTH = 64 };

static int remove_below(struct jw_error *err, int above, const char *name, const char *path,
						int depth)
{
	int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int result = 0;

	if (!directory) {
		posix_error(err, path);
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	while (!result && (entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		/* A folder with nothing in it need not be opened first. */
		if (entry->d_type == DT_DIR && !unlinkat(fd, entry->d_name, AT_REMOVEDIR))
			continue;
		if (!unlinkat(fd, entry->d_name, 0) || errno == ENOENT)
			continue;
		if ((errno != EISDIR && errno != EPERM) || depth >= MOST_DEPTH)
			result = posix_error(err, path);
		else
			result = remove_below(err, fd, entry->d_name, path, depth + 1);
	}
	(void)closedir(directory);
	if (!result && unlinkat(above, name, AT_REMOVEDIR) && errno != ENOENT)
		result = posix_error(err, path);
	return result;
}

int os_remove_tree(struct jw_error *err, const char *path)
{
	if (!unlink(path) || errno == ENOENT)
		return 0;
	return remove_below(err, AT_FDCWD, path, path, 0);
}

int os_real_path(struct jw_error *err, const char *path, char **ret_path)
{
	char resolved[PATH_MAX];
	char *copy;

	if (!realpath(path, resolved))
		return posix_error(err, path);
	copy = mem_string(err, resolved);
	if (!copy)
		return -1;
	*ret_path = copy;
	return 0;
}
