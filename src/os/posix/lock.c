#include "os/file.h"

#include <errno.h>
#include <fcntl.h>

#include "os/open_file.h"
#include "os/posix/posix.h"

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
