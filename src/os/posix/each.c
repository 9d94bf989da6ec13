#include "os/each.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/posix/at.h"
#include "os/posix/posix.h"

struct each {
	int (*take)(struct jw_error *err, void *context, const char *name, const struct os_stat *stat);
	void *context;
};

static int take_entry(struct jw_error *err, const struct each *each, int directory,
					  const char *name)
{
	struct os_stat stat = {.kind = OS_OTHER};
	struct stat native;

	/* It has gone meanwhile. */
	if (fstatat(directory, name, &native, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (S_ISREG(native.st_mode))
		stat.kind = OS_REGULAR;
	else if (S_ISDIR(native.st_mode))
		stat.kind = OS_DIRECTORY;
	stat.size_bytes = (uint64_t)native.st_size;
	stat.mtime_ns = (int64_t)native.st_mtim.tv_sec * 1000000000 + native.st_mtim.tv_nsec;
	stat.device = (uint64_t)native.st_dev;
	return each->take(err, each->context, name, &stat);
}

int os_each(struct jw_error *err, const char *path,
			int (*take)(struct jw_error *err, void *context, const char *name,
						const struct os_stat *stat),
			void *context)
{
	const struct each each = {take, context};
	struct dirent *entry;
	struct at at;
	DIR *directory;
	int fd, result = 0;

	if (at_enter(err, path, AT_LAST_KEPT, &at))
		return -1;
	fd = openat(at.dir, at.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		posix_error(err, path);
		if (fd >= 0)
			(void)close(fd);
		at_leave(&at);
		return -1;
	}
	for (errno = 0; !result && (entry = readdir(directory)); errno = 0)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = take_entry(err, &each, fd, entry->d_name);
	if (!result && errno)
		result = posix_error(err, path);
	(void)closedir(directory);
	at_leave(&at);
	return result;
}
