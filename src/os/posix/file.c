#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path_calls.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"
#include "os/processes.h"

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
	result = at_stat(&at, &native) ? posix_error(err, path) : 0;
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

bool os_file_user(struct os_file *file, struct os_program *ret_program)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct os_program program = {0};

	/* 0 or less: a process that this container does not see, or an open file description's lock. */
	if (fcntl(file->fd, F_GETLK, &lock) || lock.l_type == F_UNLCK || lock.l_pid <= 0)
		return false;
	program.pid = lock.l_pid;
	os_program_name(program.pid, program.name, sizeof program.name);
	*ret_program = program;
	return true;
}

const char os_separator = '/';
const char os_list_separator = ':';

bool os_is_separator(char c)
{
	return c == '/';
}

bool os_is_absolute(const char *path)
{
	return path[0] == '/';
}

size_t os_root_length(const char *path)
{
	return path[0] == '/';
}

/* Opening alone can have effects: a watchdog restarts the machine, a tape rewinds, a pipe's writer
 * goes on. Other accounts' files name what the superuser reads. Who could swap the file between
 * this look and the open has its own rights alone there, and can make no devices. */
static bool is_device_or_pipe(const struct at *at)
{
	struct stat stat;

	return !at_stat(at, &stat) &&
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

enum { MOST_TRIES = 100 };

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
	char *name = mem_printf("%s%cXXXXXX", path, between);
	int made = -1, reason = EEXIST;

	for (int tries = 0; made < 0 && reason == EEXIST && tries < MOST_TRIES; tries++) {
		struct at at;

		if (path_choose_letters(err, path, name + strlen(name) - PATH_LETTERS) ||
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

int os_rename(struct jw_error *err, const char *from, const char *to)
{
	struct at a, b;
	int result = -1;

	if (at_find(err, from, AT_LAST_KEPT, &a))
		return -1;
	if (at_find(err, to, AT_LAST_KEPT, &b)) {
		at_leave(&a);
		return -1;
	}
	if (a.owner != b.owner)
		error_set(err, JW_ERR_IO, "%s: its folder belongs to another account than that of %s", to,
				  from);
	else if (!at_act(err, &b))
		result = renameat(a.dir, a.name, b.dir, b.name) ? posix_error(err, to) : 0;
	at_leave(&b);
	at_leave(&a);
	at_forget();
	return result;
}

int os_file_lock(struct jw_error *err, struct os_file *file, bool exclusive, bool *ret_held)
{
	struct flock lock = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};

	if (fcntl(file->fd, F_SETLK, &lock)) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return posix_error(err, file->path);
		*ret_held = false;
		return 0;
	}
	*ret_held = true;
	return 0;
}

int os_file_unlock(struct jw_error *err, struct os_file *file)
{
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	return fcntl(file->fd, F_SETLK, &lock) ? posix_error(err, file->path) : 0;
}

void *map_view(struct jw_error *err, int fd, const char *path, size_t size)
{
	void *view = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (view != MAP_FAILED)
		return view;
	posix_error(err, path);
	return NULL;
}

void map_unview(void *view, size_t size)
{
	(void)munmap(view, size);
}

void os_map_forget(const struct os_map *map, size_t offset, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), start = (offset + page - 1) / page * page,
		   end = (offset + size) / page * page;

	if (map->handle && end > start && end <= map->size)
		(void)madvise((uint8_t *)map->handle + start, end - start, MADV_DONTNEED);
}
