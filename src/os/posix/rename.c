#include "os/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "os/open_file.h"
#include "os/path_calls.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"

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

/* The kernel grants a lease for readers only if no process has the file open for writing. It is
 * returned at once, so that others do not wait; the signal that would announce them is ignored.
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

	/* Moves it first: from then on no other process finds it by its old name. */
	if (os_rename(NULL, from, to))
		return NULL;
	if (!path_is_link(to) && !os_file_open(NULL, to, OS_OPEN_READ, &file) &&
		!fstat(file->fd, &native) && S_ISREG(native.st_mode) && native.st_nlink == 1 &&
		has_no_writer(file->fd))
		return file;
	os_file_close(file);
	(void)os_rename(NULL, to, from);
	return NULL;
}
