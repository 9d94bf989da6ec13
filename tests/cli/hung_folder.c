/* For the case “share-faults” (LD_PRELOAD), this imitates a shared folder on a server that never
 * answers: a process that opens an object in it waits forever. The file named by FAKE_HUNG_FOLDER
 * says that an object was opened; if FAKE_CRASHED_FOLDER is set, the process ends instead. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int openat64(int dir, const char *path, int flags, ...)
{
	const char *mark = getenv("FAKE_HUNG_FOLDER");
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (!strstr(path, ".jwpack") && !strstr(path, ".claim"))
		return (int)syscall(SYS_openat, dir, path, flags, mode);
	if (getenv("FAKE_CRASHED_FOLDER"))
		abort();
	if (mark)
		(void)close((int)syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600));
	for (;;)
		(void)pause();
}
