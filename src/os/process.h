/* Runs another program to its end; and functions for a process that another has started. */
#pragma once

#include <stdint.h>

#include "base/error.h"

struct os_ended {
	int status;          /* exit status; on Windows also an exception's code (0xc0000005) */
	int signal;          /* that ended it, 0 for none; 0 on Windows */
	uint64_t peak_bytes; /* peak resident memory, 0 if unknown */
	double cpu_ms;       /* processor time of all its threads */
};

/* Starts `arguments` (a NULL at the end; the first is the program: a path, on Windows a whole one
 * (os/programs.h), on POSIX also a name that is looked for on PATH), without a standard input,
 * waits for its end, and tells how it ended. Its stdout and stderr go to the new file `output`. It
 * is killed when this process ends, however that happens. -1: it cannot be started. */
int os_run(struct jw_error *err, const char *const *arguments, const char *output,
		   struct os_ended *ret_ended);

/* Ends this process at once, wherever its threads are. */
void os_end_now(int status);
/* From now on this process is killed when its parent ends. On Windows the parent's job object does
 * that. */
void os_die_with_parent(void);
/* A crash ends the process at once: no core files, no dialog boxes. */
void os_crash_quietly(void);
