#include "os/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "os/open_file.h"
#include "os/posix/posix.h"

int os_rename(struct jw_error *err, const char *from, const char *to)
{
	return rename(from, to) ? posix_error(err, to) : 0;
}

/* A lease for readers is given only if no process has the file open for writing. It is given back
 * at once, so that others do not wait; the signal that would announce them is one that is ignored.
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

	/* Moved first: from then on no other process finds it under its old name. */
	if (rename(from, to))
		return NULL;
	if (!lstat(to, &native) && S_ISREG(native.st_mode) && native.st_nlink == 1 &&
		!os_file_open(NULL, to, OS_OPEN_READ, &file) && has_no_writer(file->fd))
		return file;
	os_file_close(file);
	(void)rename(to, from);
	return NULL;
}
