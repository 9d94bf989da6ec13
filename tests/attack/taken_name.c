/* For the case “outputs” (LD_PRELOAD), this imitates an account that takes the name TAKEN_NAME
 * whenever root makes a folder there, and gives the name back at once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int mkdirat(int dir, const char *path, mode_t mode)
{
	const char *name = getenv("TAKEN_NAME");

	if (!name || strcmp(path, name) != 0)
		return (int)syscall(SYS_mkdirat, dir, path, mode);
	errno = EEXIST;
	return -1;
}
