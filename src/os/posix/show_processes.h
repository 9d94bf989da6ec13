/* Who has entered another process's files sees no other process there. One of its own, which stays
 * outside with root's rights, opens for it what the system shows of that process's descendants
 * (maps, stat, task, and of its threads stat and children), and nothing else. */
#pragma once

#include "base/error.h"

/* Starts it, for the descendants of `first`. It ends with this process. */
int show_processes_begin(struct jw_error *err, int first);
/* Opens /proc/PID/NAME: -1 with errno where it is none of these, or none was started. */
int show_processes_open(int pid, const char *name);
