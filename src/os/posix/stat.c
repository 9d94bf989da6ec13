#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "os/open_file.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"

/* glibc has it by name since 2.28, musl since 1.2.5; programs for older ones ask the kernel. */
#if !defined(__GLIBC__) || __GLIBC__ * 100 + __GLIBC_MINOR__ < 228
#define statx(...) ((int)syscall(SYS_statx, __VA_ARGS__))
#endif

void posix_stat_of(const struct stat *from, struct os_stat *to)
{
	const mode_t mode = from->st_mode;

	*to = (struct os_stat){
		.kind = S_ISREG(mode)    ? OS_REGULAR
				: S_ISDIR(mode)  ? OS_DIRECTORY
				: S_ISFIFO(mode) ? OS_PIPE
				: S_ISCHR(mode)  ? OS_DEVICE
								 : OS_OTHER,
		.size_bytes = (uint64_t)from->st_size,
		.mtime_ns = (int64_t)from->st_mtim.tv_sec * 1000000000 + from->st_mtim.tv_nsec,
		.changed_ns = (int64_t)from->st_ctim.tv_sec * 1000000000 + from->st_ctim.tv_nsec,
		.device = (uint64_t)from->st_dev,
		.inode = (uint64_t)from->st_ino,
		.mode = mode & 07777u,
		.owner = from->st_uid,
		.group = from->st_gid,
	};
}

int os_stat(struct jw_error *err, const char *path, struct os_stat *ret_stat)
{
	struct stat native;
	struct at at;
	int result;

	if (at_enter(err, path, AT_LAST_FOLLOWED, &at))
		return -1;
	result = fstatat(at.dir, at.name, &native, 0) ? posix_error(err, path) : 0;
	at_leave(&at);
	if (!result)
		posix_stat_of(&native, ret_stat);
	return result;
}

int fd_stat(struct jw_error *err, int fd, const char *path, struct os_stat *ret_stat)
{
	struct stat native;

	if (fstat(fd, &native))
		return posix_error(err, path);
	posix_stat_of(&native, ret_stat);
	return 0;
}

uint64_t os_identity(const char *path)
{
	struct statx native;
	struct at at;
	uint64_t state;
	int failed;

	if (at_enter(NULL, path, AT_LAST_FOLLOWED, &at))
		return OS_UNIDENTIFIED;
	failed = statx(at.dir, at.name, 0, STATX_INO | STATX_BTIME, &native);
	at_leave(&at);
	if (failed)
		return errno == ENOENT || errno == ENOTDIR ? 0 : OS_UNIDENTIFIED;
	if (!(native.stx_mask & STATX_BTIME) || !native.stx_btime.tv_sec)
		return OS_UNIDENTIFIED;
	state = fnv_update(FNV_START, &native.stx_ino, sizeof native.stx_ino);
	state = fnv_update(state, &native.stx_btime.tv_sec, sizeof native.stx_btime.tv_sec);
	return fnv_update(state, &native.stx_btime.tv_nsec, sizeof native.stx_btime.tv_nsec);
}

int os_file_set_mtime(struct jw_error *err, struct os_file *file, int64_t mtime_ns)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = (time_t)(mtime_ns / 1000000000), .tv_nsec = (long)(mtime_ns % 1000000000)}};

	return futimens(file->fd, times) ? posix_error(err, file->path) : 0;
}

int os_set_mode(struct jw_error *err, const char *path, uint32_t mode)
{
	struct at at;
	int result;

	if (at_enter(err, path, AT_LAST_FOLLOWED, &at))
		return -1;
	result = at_set_mode(&at, (mode_t)mode) ? posix_error(err, path) : 0;
	at_leave(&at);
	at_forget();
	return result;
}
