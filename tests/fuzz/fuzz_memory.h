/* A file in memory, for targets that read files. */
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

/* Returns -1 without memfd_create(), which the C library has only since 2.27. */
static inline int fuzz_memory_file(const char *name)
{
	return (int)syscall(SYS_memfd_create, name, 0);
}
