/* The interface between a fuzz target and its driver. */
#ifndef JW_TESTS_FUZZ_H
#define JW_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An invariant for every input; its failure is a finding. */
#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition))                                                                          \
			abort();                                                                               \
	} while (0)

/* A file in memory, or -1. The C library has memfd_create() since 2.27 alone. */
static inline int fuzz_memory_file(const char *name)
{
	return (int)syscall(SYS_memfd_create, name, 0);
}

#endif
