/* Replaces the C library's functions that rename a file; both come to the test's `renames`. */
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

static int renames(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);

static int rename_really(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

__attribute__((visibility("default"))) int renameat(int from_dir, const char *from, int to_dir,
													const char *to)
{
	return renames(from_dir, from, to_dir, to, 0);
}

__attribute__((visibility("default"))) int renameat2(int from_dir, const char *from, int to_dir,
													 const char *to, unsigned flags)
{
	return renames(from_dir, from, to_dir, to, flags);
}
