/* Rights of files: copied to another one, and those of a new one. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/path_calls.h"
#include "os/posix/posix.h"
#include "os/uv.h"

enum { MAX_XATTR = 64 << 10 };
static const char access_list[] = "system.posix_acl_access";

static int copy_xattr(struct jw_error *err, int from, int to, const char *path, const char *name)
{
	char value[MAX_XATTR];
	const ssize_t size = fgetxattr(from, name, value, sizeof value);

	if (size < 0)
		return errno == ENODATA ? 0 : posix_error(err, path);
	return fsetxattr(to, name, value, (size_t)size, 0) ? posix_error(err, path) : 0;
}

/* Copies extended attributes. Those that belong to the content (security.ima, capabilities) or to
 * the kernel are left out; a new file gets its label from the system's policy. */
static int copy_xattrs(struct jw_error *err, int from, int to, const char *path)
{
	char *names = mem_alloc(MAX_XATTR);
	const ssize_t size = flistxattr(from, names, MAX_XATTR - 1);
	int result = 0;

	if (size < 0 && errno != ENOTSUP)
		result = posix_error(err, path);
	for (ssize_t at = 0; !result && at < size; at += (ssize_t)strlen(names + at) + 1)
		if (text_starts(names + at, "user.") || !strcmp(names + at, access_list))
			result = copy_xattr(err, from, to, path, names + at);
	mem_free(names);
	return result;
}

/* The mode comes last: giving a file away clears its set-user-id bits. */
static int copy_all(struct jw_error *err, int from, int to, const char *path)
{
	struct stat old, new;

	if (fstat(from, &old) || fstat(to, &new))
		return posix_error(err, path);
	if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) &&
		fchown(to, old.st_uid, old.st_gid))
		return posix_error(err, path);
	/* A new file has the default access list of its folder, which the original may lack. */
	if (fremovexattr(to, access_list) && errno != ENODATA && errno != ENOTSUP)
		return posix_error(err, path);
	if (copy_xattrs(err, from, to, path))
		return -1;
	return fchmod(to, old.st_mode & 07777) ? posix_error(err, path) : 0;
}

/* Another account's file keeps its owner if this process may do that; otherwise the file is not
 * replaced. */
int fd_set_rights(struct jw_error *err, int fd, const char *path, uint32_t mode, bool keep)
{
	if (keep) {
		const int source = path_open(err, path, UV_FS_O_RDONLY | UV_FS_O_NONBLOCK, false);
		const int result = source < 0 ? -1 : copy_all(err, source, fd, path);

		if (source >= 0)
			(void)close(source);
		return result;
	}
	if (mode == RIGHTS_OF_NEW)
		mode = 0666 & ~os_creation_mask();
	return fchmod(fd, (mode_t)mode) ? posix_error(err, path) : 0;
}
