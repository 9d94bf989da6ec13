#include "os/posix/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/posix/posix.h"
#include "os/posix/show_processes.h"

/* What is open of the one process that is still to be seen from among other files; those that it
 * has started are shown by another one (show_processes.h). Of /proc itself nothing stays open: root
 * of a container may write there, and is root here. */
static struct {
	int pid, folder;
	/* They are read again and again. Who may open them is asked only once, and has no right later.
	 */
	int maps, stat;
} held = {0, -1, -1, -1};

int posix_hold_process(struct jw_error *err, int pid)
{
	char path[64];
	int folder, maps = -1, stat = -1;

	(void)snprintf(path, sizeof path, "/proc/%d", pid);
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		maps = openat(folder, "maps", O_RDONLY | O_CLOEXEC);
	if (maps >= 0)
		stat = openat(folder, "stat", O_RDONLY | O_CLOEXEC);
	if (stat >= 0 && !show_processes_begin(err, pid)) {
		held.pid = pid;
		held.folder = folder;
		held.maps = maps;
		held.stat = stat;
		return 0;
	}
	if (errno == ENOENT || errno == ESRCH)
		error_set(err, JW_ERR_NOT_FOUND, "there is no process %d", pid);
	else
		posix_error(err, path);
	if (stat >= 0)
		(void)close(stat);
	if (maps >= 0)
		(void)close(maps);
	if (folder >= 0)
		(void)close(folder);
	return -1;
}

int posix_open_of_process(int pid, const char *name)
{
	char path[320];

	if (held.pid && pid != held.pid)
		return show_processes_open(pid, name);
	if (held.pid)
		return openat(held.folder, name, O_RDONLY | O_CLOEXEC);
	(void)snprintf(path, sizeof path, "/proc/%d/%.250s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool posix_link_of_process(int pid, const char *name, char *room, size_t size)
{
	char path[320];
	ssize_t length = -1;

	(void)snprintf(path, sizeof path, "/proc/%d/%.250s", pid, name);
	if (!held.pid)
		length = readlink(path, room, size);
	else if (pid == held.pid)
		length = readlinkat(held.folder, name, room, size);
	if (length < 0 || (size_t)length >= size)
		return false;
	room[length] = '\0';
	return true;
}

int posix_read_of_process(struct jw_error *err, int pid, const char *name, struct buf *text)
{
	enum { STEP = 64 << 10 };
	const bool kept =
		held.pid && pid == held.pid && (!strcmp(name, "maps") || !strcmp(name, "stat"));
	const int fd = !kept                   ? posix_open_of_process(pid, name)
				   : !strcmp(name, "maps") ? held.maps
										   : held.stat;
	ssize_t got = 1;
	int result = 0;

	buf_clear(text);
	while (fd >= 0 && !result && got > 0) {
		result = buf_reserve(err, text, STEP);
		if (result)
			break;
		do
			got = pread(fd, text->data + text->size, STEP, (off_t)text->size);
		while (got < 0 && errno == EINTR);
		if (got > 0)
			text->size += (size_t)got;
	}
	if (fd >= 0 && !kept)
		(void)close(fd);
	return result ? -1 : buf_append(err, text, "", 0);
}
