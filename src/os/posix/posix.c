#include "os/posix/posix.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/uv.h"

int os_error_number(struct jw_error *err, const char *path, int number)
{
	enum jw_code code = number == ENOENT || number == ENOTDIR ? JW_ERR_NOT_FOUND
						: number == ENXIO ? JW_ERR_BUSY /* a pipe without a reader */
										  : JW_ERR_IO;

	return error_set(err, code,
					 number == ENOSPC || number == EDQUOT
						 ? "%s: %s: free some space, or name another folder"
						 : "%s: %s",
					 path, strerror(number));
}

int posix_error(struct jw_error *err, const char *path)
{
	return os_error_number(err, path, errno);
}

bool posix_real_path(int fd, char ret_path[PATH_MAX])
{
	char link[32];
	ssize_t length;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, ret_path, PATH_MAX - 1);
	if (length > 0)
		ret_path[length] = '\0';
	return length > 0 && length < PATH_MAX - 1 && ret_path[0] == '/';
}

static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

void posix_lists_begin(void)
{
	(void)pthread_mutex_lock(&lists);
}

void posix_lists_end(void)
{
	(void)pthread_mutex_unlock(&lists);
}

char *posix_system_path(const char *path)
{
	const char *root = getenv("JITWARM_SYSTEM_ROOT");

	return mem_printf("%s%s", root ? root : "", path);
}
