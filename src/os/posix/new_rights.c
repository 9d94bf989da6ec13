#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "os/file.h"
#include "os/open_file.h"
#include "os/posix/at.h"
#include "os/posix/posix.h"

enum { MOST_STATUS = 64 << 10 };

/* umask() can be read only by changing it, which would affect files that other threads make. */
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

/* Another account's file keeps its owner if this thread may do that; otherwise the file is not
 * replaced. The path decides whose rights apply: in another account's directory the superuser gives
 * no files away. */
int fd_set_rights(struct jw_error *err, int fd, const char *path, uint32_t mode,
				  const struct os_stat *like)
{
	struct at at;
	int result;

	if (mode == RIGHTS_OF_NEW)
		mode = 0666 & ~creation_mask();
	if (at_enter(err, path, AT_LAST_KEPT, &at))
		return -1;
	result = (like && fchown(fd, like->owner, like->group)) || fchmod(fd, (mode_t)mode)
				 ? posix_error(err, path)
				 : 0;
	at_leave(&at);
	return result;
}
