/* The rights of a file that is written. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "os/file.h"
#include "os/open_file.h"
#include "os/posix/posix.h"

enum { MOST_STATUS = 64 << 10 };

/* umask() reads it by changing it, which other threads' new files would meet. */
static mode_t creation_mask(void)
{
	struct buf text = {0};
	const char *line = os_read_file(NULL, "/proc/self/status", MOST_STATUS, &text)
						   ? NULL
						   : strstr(buf_text(&text), "\nUmask:");
	mode_t mask = line ? (mode_t)strtoul(line + strlen("\nUmask:"), NULL, 8) : umask(0);

	if (!line)
		(void)umask(mask);
	buf_free(&text);
	return mask;
}

/* Another account's file stays that account's, where we may; else it is not replaced. */
int fd_set_rights(struct jw_error *err, int fd, const char *path, uint32_t mode,
				  const struct os_stat *like)
{
	if (mode == RIGHTS_OF_NEW)
		mode = 0666 & ~creation_mask();
	if ((like && fchown(fd, like->owner, like->group)) || fchmod(fd, (mode_t)mode))
		return posix_error(err, path);
	return 0;
}
