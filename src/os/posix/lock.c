/* Who else uses a file: locks as drivers take them, and leases. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "os/posix/posix.h"
#include "os/processes.h"

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

bool os_file_user(struct os_file *file, struct os_program *ret_program)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct os_program program = {0};

	/* 0 or less: a process that this container does not see, or a lock of an open file's. */
	if (fcntl(file->fd, F_GETLK, &lock) || lock.l_type == F_UNLCK || lock.l_pid <= 0)
		return false;
	program.pid = lock.l_pid;
	os_program_name(program.pid, program.name, sizeof program.name);
	*ret_program = program;
	return true;
}

/* A lease for readers is given only where nobody has the file open for writing. It is not kept, so
 * whoever comes meanwhile does not wait; the signal that tells of him is one that is ignored.
 * Source: fcntl(2), "Leases". */
static bool has_no_writer(int fd)
{
	return !fcntl(fd, F_SETSIG, SIGURG) && !fcntl(fd, F_SETLEASE, F_RDLCK) &&
		   !fcntl(fd, F_SETLEASE, F_UNLCK);
}

struct os_file *os_file_take(const char *from, const char *to)
{
	struct os_file *file = NULL;
	struct stat native;

	/* Moved first: from then on nobody finds it to open it. */
	if (rename(from, to))
		return NULL;
	if (!lstat(to, &native) && S_ISREG(native.st_mode) && native.st_nlink == 1 &&
		!os_file_open(NULL, to, OS_OPEN_READ, &file) && has_no_writer(file->fd))
		return file;
	os_file_close(file);
	(void)rename(to, from);
	return NULL;
}
