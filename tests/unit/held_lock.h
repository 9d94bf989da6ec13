/* Starts a child process that holds the lock on the index of the cache in `dir` (inserting.h). */
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inserting.h"

/* Returns a pipe; the child holds the lock until the pipe is closed. -1 if the child did not get
 * the lock. */
static inline int hold_lock(bool exclusive, pid_t *ret_child)
{
	char *path = keep(os_join(dir, "index")), byte;
	int ready[2], release[2];
	ssize_t got;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(release), 0);
	*ret_child = fork();
	if (!*ret_child) {
		struct os_file *file;
		bool held = false;

		(void)close(ready[0]);
		(void)close(release[1]);
		if (os_file_open(NULL, path, OS_OPEN_UPDATE, &file) ||
			os_file_lock(NULL, file, exclusive, &held) || !held)
			_exit(1);
		(void)!write(ready[1], "x", 1);
		(void)!read(release[0], &byte, 1);
		_exit(0);
	}
	(void)close(ready[1]);
	(void)close(release[0]);
	got = read(ready[0], &byte, 1);
	(void)close(ready[0]);
	if (got == 1)
		return release[1];
	(void)close(release[1]);
	assert_int_equal(waitpid(*ret_child, NULL, 0), *ret_child);
	return -1;
}

static inline void end_lock(int release, pid_t child)
{
	int status;

	(void)close(release);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}
