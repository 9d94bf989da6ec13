#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/path_calls.h"
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
		.names = from->st_nlink,
	};
}

int os_stat(struct jw_error *err, const char *path, struct os_stat *ret_stat)
{
	struct stat native;

	if (fstatat(AT_FDCWD, path, &native, 0))
		return posix_error(err, path);
	posix_stat_of(&native, ret_stat);
	return 0;
}

int fd_stat(struct jw_error *err, int fd, const char *path, struct os_stat *ret_stat)
{
	struct stat native;

	if (fstat(fd, &native))
		return posix_error(err, path);
	posix_stat_of(&native, ret_stat);
	return 0;
}

int os_set_mode(struct jw_error *err, const char *path, uint32_t mode)
{
	return fchmodat(AT_FDCWD, path, (mode_t)mode, 0) ? posix_error(err, path) : 0;
}

/* Returns whether a process has a lock by this descriptor, of the file that is `wanted`. The text
 * of fdinfo names a device, but overlayfs and btrfs show programs another one. Source: proc(5). */
static bool has_lock(const char *process, const char *descriptor, const struct statx *wanted)
{
	char *info = mem_printf("/proc/%s/fdinfo/%s", process, descriptor),
		 *opened = mem_printf("/proc/%s/fd/%s", process, descriptor);
	struct buf text = {0};
	struct statx file;
	/* The text of an epoll descriptor may wait for such a server, too, and a wait in the kernel
	 * cannot be ended: only the text of the wanted file is read. */
	const bool has =
		!statx(AT_FDCWD, opened, AT_STATX_DONT_SYNC, STATX_INO, &file) &&
		file.stx_ino == wanted->stx_ino && file.stx_dev_major == wanted->stx_dev_major &&
		file.stx_dev_minor == wanted->stx_dev_minor && !os_read_file(NULL, info, 1 << 16, &text) &&
		(strstr(buf_text(&text), " POSIX ") || strstr(buf_text(&text), " OFDLCK "));

	buf_free(&text);
	mem_free(opened);
	mem_free(info);
	return has;
}

/* The lock, by the descriptors of a process. */
enum lock_seen { LOCK_HIDDEN, LOCK_NONE, LOCK_HELD };

static enum lock_seen lock_of(const char *process, const struct statx *wanted, uint64_t end_ns)
{
	char *folder = mem_printf("/proc/%s/fdinfo", process);
	struct jw_error why = {0};
	struct os_names files;
	enum lock_seen seen = LOCK_NONE;

	if (os_list(&why, folder, &files)) {
		seen = why.code == JW_ERR_NOT_FOUND ? LOCK_NONE : LOCK_HIDDEN; /* the process has ended */
	} else {
		for (size_t k = 0; seen != LOCK_HELD && k < files.count && os_monotonic_ns() < end_ns; k++)
			if (has_lock(process, files.items[k], wanted))
				seen = LOCK_HELD;
		os_names_free(&files);
	}
	mem_free(folder);
	return seen;
}

/* Returns a process that has the lock; 0 if none is seen in time: an account may have millions of
 * open files. The kernel names the process that took the lock, or none for a lock of an open file
 * description. That process may have ended, while another one shares its descriptors and a third
 * one has its number. */
static int find_holder(int fd, int named)
{
	enum { SEARCH_MS = 2000 };
	const uint64_t end_ns = os_monotonic_ns() + SEARCH_MS * UINT64_C(1000000);
	struct os_names processes;
	struct statx wanted;
	char number[16];
	int found = 0;

	(void)snprintf(number, sizeof number, "%d", named);
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &wanted))
		return 0;
	if (named > 0 && lock_of(number, &wanted, end_ns) != LOCK_NONE)
		return named;
	if (os_list(NULL, "/proc", &processes))
		return 0;
	for (size_t i = 0; !found && i < processes.count && os_monotonic_ns() < end_ns; i++)
		if (text_is_digit(*processes.items[i]) &&
			lock_of(processes.items[i], &wanted, end_ns) == LOCK_HELD)
			found = (int)strtol(processes.items[i], NULL, 10);
	os_names_free(&processes);
	return found;
}

bool os_file_user(struct os_file *file, struct os_program *ret_program)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct os_program program = {0};

	/* 0 stands for a process that this container does not see. */
	if (fcntl(file->fd, F_GETLK, &lock) || lock.l_type == F_UNLCK || !lock.l_pid)
		return false;
	program.pid = find_holder(file->fd, lock.l_pid);
	if (!program.pid)
		return false;
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

/* Returns the permissions without those of readers that may not write, since a reader can lock. */
static mode_t without_readers(mode_t mode)
{
	return mode & ~(0044 & ~((mode & 0022) << 1));
}

/* These calls have the forms with a folder, as removing a tree needs them: one family, which tests
 * of failing calls replace. */
int path_open(struct jw_error *err, const char *path, int flags, bool lock)
{
	/* A folder's default access list would replace the umask. */
	const mode_t all = flags & O_CREAT ? 0666 & ~os_creation_mask() : 0;
	const mode_t mode = lock ? without_readers(all) : all;
	struct stat native;
	int fd;

	/* Opening a device or a pipe alone can have effects: a watchdog restarts the machine. */
	if (!fstatat(AT_FDCWD, path, &native, 0) && !S_ISREG(native.st_mode) &&
		!S_ISDIR(native.st_mode))
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: is not a regular file", path);
	do
		fd = openat(AT_FDCWD, path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return posix_error(err, path);
	if (lock && !fstat(fd, &native))
		(void)fchmod(fd, without_readers(native.st_mode & 07777));
	return fd;
}

int path_make_dir(struct jw_error *err, const char *path, uint32_t mode)
{
	return mkdirat(AT_FDCWD, path, (mode_t)mode) ? posix_error(err, path) : 0;
}

int os_remove_empty_dir(struct jw_error *err, const char *path)
{
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR) ? posix_error(err, path) : 0;
}

int os_remove(struct jw_error *err, const char *path)
{
	return unlinkat(AT_FDCWD, path, 0) && errno != ENOENT ? posix_error(err, path) : 0;
}

enum { MAX_TRIES = 100 };

/* Tries other letters while the name exists. */
static int make_new(struct jw_error *err, const char *path, bool folder, char **ret_name)
{
	char *name = mem_printf("%s%cXXXXXX", path, folder ? '-' : '.');
	int made = -1, reason = EEXIST;

	for (int tries = 0; made < 0 && reason == EEXIST && tries < MAX_TRIES; tries++) {
		if (path_choose_letters(err, path, name + strlen(name) - PATH_LETTERS))
			break;
		made = folder ? mkdirat(AT_FDCWD, name, 0700)
					  : openat(AT_FDCWD, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		reason = errno;
		if (made < 0)
			posix_error(err, path);
	}
	if (made < 0)
		mem_free(name);
	else
		*ret_name = name;
	return made;
}

int path_make_file(struct jw_error *err, const char *path, char **ret_name)
{
	return make_new(err, path, /* folder= */ false, ret_name);
}

bool path_is_link(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISLNK(stat.st_mode);
}

int path_make_private_folder(struct jw_error *err, const char *path, char **ret_name)
{
	return make_new(err, path, /* folder= */ true, ret_name);
}

int os_rename(struct jw_error *err, const char *from, const char *to)
{
	return renameat(AT_FDCWD, from, AT_FDCWD, to) ? posix_error(err, to) : 0;
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

/* The files that are mapped now. */
static struct mapped {
	const uint8_t *view;
	size_t size, holes;
	char *path;
	struct mapped *next;
} * all_mapped;
static size_t all_holes; /* of all mapped files */
static pthread_mutex_t mapped_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*report_cut)(const char *path);

/* The kernel sends SIGBUS to the thread that read the missing byte, so it interrupts a read of the
 * mapping, and never a lock or an allocation. A process may send it at any moment. */
static void find_cut(int number, siginfo_t *info, void *context)
{
	const uint8_t *at = info->si_addr;
	const struct mapped *mapped;

	(void)context;
	if (info->si_code > 0) {
		(void)pthread_mutex_lock(&mapped_lock);
		/* Any other thread that finds the file cut waits for the lock until the process has ended.
		 */
		for (mapped = all_mapped; mapped; mapped = mapped->next)
			if (at >= mapped->view && at < mapped->view + mapped->size)
				report_cut(mapped->path);
		(void)pthread_mutex_unlock(&mapped_lock);
	}
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

void os_on_cut_file(void (*report)(const char *path))
{
	struct sigaction action = {.sa_sigaction = find_cut, .sa_flags = SA_SIGINFO};

	report_cut = report;
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGBUS, &action, NULL);
}

enum { HUGE_PAGE = 1 << 21, MOST_HOLES = 1 << 12, MOST_HOLES_OF_ALL = 1 << 14 };

/* Returns whether a file may have a hole that map_holes maps. lseek waits in the kernel while
 * another process writes to the file, so it is asked about sparse files alone. */
static bool may_have_holes(int fd, size_t size)
{
	struct stat stat;

	return !fstat(fd, &stat) && (uint64_t)stat.st_blocks * 512 + HUGE_PAGE <= size;
}

/* Maps zeros over the holes of a sparse file. The kernel would allocate a page for each page of a
 * hole that is read: in tmpfs for good, elsewhere in place of other files' cached pages. The
 * kernel limits the number of mappings of a process to 65,530, and a hole takes two. So a file has
 * at most half of the holes that are left, which are its largest ones. */
static int map_holes(struct jw_error *err, int fd, const char *path, uint8_t *view, size_t size,
					 size_t most, size_t *ret_count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE),
				 least = most && size / most > HUGE_PAGE ? size / most : HUGE_PAGE;
	off_t hole = most ? lseek(fd, 0, SEEK_HOLE) : -1;
	size_t count = 0;

	while (hole >= 0 && (size_t)hole < size && count < most) {
		const off_t data = lseek(fd, hole, SEEK_DATA);
		const size_t start = ((size_t)hole + page - 1) / page * page,
					 end = (data < 0 || (size_t)data > size ? size : (size_t)data) / page * page;

		if (data < 0 && errno != ENXIO)
			break;
		if (end > start && end - start >= least) {
			if (mmap(view + start, end - start, PROT_READ,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
				return posix_error(err, path);
			/* One huge page of zeros serves all of them. */
			(void)madvise(view + start, end - start, MADV_HUGEPAGE);
			count++;
		}
		hole = data < 0 ? data : lseek(fd, data, SEEK_HOLE);
	}
	*ret_count = count;
	return 0;
}

/* Returns the number of holes that a file may have, and counts them. */
static size_t reserve_holes(void)
{
	size_t most;

	(void)pthread_mutex_lock(&mapped_lock);
	most = (MOST_HOLES_OF_ALL - all_holes) / 2;
	most = most < MOST_HOLES ? most : MOST_HOLES;
	all_holes += most;
	(void)pthread_mutex_unlock(&mapped_lock);
	return most;
}

static void release_holes(size_t count)
{
	(void)pthread_mutex_lock(&mapped_lock);
	all_holes -= count;
	(void)pthread_mutex_unlock(&mapped_lock);
}

void *map_view(struct jw_error *err, int fd, const char *path, size_t size)
{
	void *view = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	struct mapped *mapped;
	size_t most, holes = 0;

	if (view == MAP_FAILED) {
		posix_error(err, path);
		return NULL;
	}
	most = may_have_holes(fd, size) ? reserve_holes() : 0;
	if (map_holes(err, fd, path, view, size, most, &holes)) {
		(void)munmap(view, size);
		release_holes(most);
		return NULL;
	}
	release_holes(most - holes);
	mapped = mem_alloc(sizeof *mapped);
	*mapped = (struct mapped){.view = view, .size = size, .holes = holes, .path = mem_string(path)};
	(void)pthread_mutex_lock(&mapped_lock);
	mapped->next = all_mapped;
	all_mapped = mapped;
	(void)pthread_mutex_unlock(&mapped_lock);
	return view;
}

void map_unview(void *view, size_t size)
{
	struct mapped **at = &all_mapped, *mapped;

	(void)pthread_mutex_lock(&mapped_lock);
	while ((*at)->view != view)
		at = &(*at)->next;
	mapped = *at;
	*at = mapped->next;
	(void)pthread_mutex_unlock(&mapped_lock);
	(void)munmap(view, size);
	release_holes(mapped->holes);
	mem_free(mapped->path);
	mem_free(mapped);
}

void os_map_forget(const struct os_map *map, size_t offset, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), start = (offset + page - 1) / page * page,
		   end = (offset + size) / page * page;

	if (map->handle && end > start && end <= map->size)
		(void)madvise((uint8_t *)map->handle + start, end - start, MADV_DONTNEED);
}
