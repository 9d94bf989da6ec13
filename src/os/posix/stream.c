#include "os/stream.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/posix/posix.h"

int os_take_stdout(struct jw_error *err, int *ret_fd)
{
	int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return posix_error(err, "stdout");
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		(void)close(copy);
		return posix_error(err, "stdout");
	}
	*ret_fd = copy;
	return 0;
}
