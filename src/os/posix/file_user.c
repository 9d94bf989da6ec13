#include "os/processes.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/open_file.h"

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
