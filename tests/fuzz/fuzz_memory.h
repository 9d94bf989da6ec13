/* A file in memory, for targets that read files. */
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

/* -1 without one. The C library has memfd_create() since 2.27 alone. */
static inline int fuzz_memory_file(const char *name)
{
	return (int)syscall(SYS_memfd_create, name, 0);
}
