/* Other processes and the files that they have mapped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Every file that a process or one of its descendants has mapped as code at this moment (programs
 * and libraries), some of them several times; unreadable ones are passed over; processes that
 * end meanwhile are no failure.
 * JW_ERR_UNSUPPORTED where the system does not tell (other than Linux and Windows). A return
 * other than 0 of `take` ends it. */
int os_mapped_code(struct jw_error *err, int pid,
				   int (*take)(struct jw_error *err, void *context, const char *path),
				   void *context);

/* A running program. */
struct os_program {
	int pid;
	char name[64];
};

/* The program that keeps us from locking a file: on Linux the holder of a lock on it, on Windows a
 * program that has it open (the Restart Manager). False where the system does not tell: locks of
 * another container or machine. */
struct os_file;
bool os_file_user(struct os_file *file, struct os_program *ret_program);
/* "" where it cannot be known. */
void os_program_name(int pid, char *name, size_t size);

/* Programs that have a library mapped whose file's name begins with `start` ("libcuda.so", without
 * regard to case on Windows), this one left out; at most `most`. Those that we may not look at are
 * passed over. */
int os_programs_with(struct jw_error *err, const char *start, struct os_program *programs,
					 size_t most, size_t *ret_count);
