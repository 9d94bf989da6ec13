/* Looks at the files of a process that has other ones: a container, a service with mounts of its
 * own. */
#pragma once

#include "base/error.h"

/* Only root may. From now on, for good, paths mean what they mean to that process, and this process
 * has its account (and, where that is root, the right to read what another account has closed, if
 * the process has it). What lies there is hostile and is never executed: this process can no longer
 * start programs or load libraries, which the system's functions that name accounts would do.
 * Before that, calls `take` for each variable of the process, as os_process_variables. Of all
 * processes os/processes.h then knows this one and its descendants: how much they use, and what
 * they have mapped. -1: JW_ERR_NOT_FOUND, JW_ERR_UNSUPPORTED (its rights are of several accounts;
 * the system cannot), JW_ERR_IO: only root may. On failure this process may have entered, and
 * should end. */
int os_enter_process(struct jw_error *err, int pid,
					 int (*take)(struct jw_error *err, void *context, const char *name,
								 const char *value),
					 void *context);
