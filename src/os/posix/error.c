#include "os/posix/posix.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "os/uv.h"

int os_error_number(struct jw_error *err, const char *path, int number)
{
	enum jw_code code = number == ENOENT || number == ENOTDIR ? JW_ERR_NOT_FOUND
						: number == ENOMEM                    ? JW_ERR_MEMORY
															  : JW_ERR_IO;

	return error_set(err, code, "%s: %s", path, strerror(number));
}

int posix_error(struct jw_error *err, const char *path)
{
	return os_error_number(err, path, errno);
}

char *os_uv_path(struct jw_error *err, const char *path)
{
	return mem_string(err, path);
}

void posix_stat_convert(const struct stat *from, struct os_stat *to)
{
	*to = (struct os_stat){
		.kind = S_ISREG(from->st_mode)   ? OS_REGULAR
				: S_ISDIR(from->st_mode) ? OS_DIRECTORY
										 : OS_OTHER,
		.size_bytes = (uint64_t)from->st_size,
		.mtime_ns = (int64_t)from->st_mtim.tv_sec * 1000000000 + from->st_mtim.tv_nsec,
		.device = (uint64_t)from->st_dev,
		.inode = (uint64_t)from->st_ino,
		.mode = from->st_mode & 07777u,
		.owner = from->st_uid,
		.group = from->st_gid,
	};
}
