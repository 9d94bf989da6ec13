/* A run's own directory in the state directory: the workers' private caches and the spool. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct run_folder {
	char *path, *lock_path;
	struct os_file
		*lock;      /* held as long as the run lives, which tells other processes that it does */
	bool temporary; /* its lock lies in it */
};

/* Removes the folders of killed runs; run_folder_make does so too. `state_dir` may be NULL. */
void run_folder_sweep(const char *state_dir);
/* Makes STATE/runs/PID-NUMBER, and removes the folders of runs that are no longer alive. If the
 * state directory cannot be written to, lies on a network, or is NULL, the folder is made among the
 * system's temporary files. run_folder_remove removes it with its content. */
int run_folder_make(struct jw_error *err, const char *state_dir, struct run_folder *ret_folder);
/* One that was never made ({0}) is fine. */
void run_folder_remove(struct run_folder *folder);
/* Files other than an index anywhere below a cache directory; 0 where it cannot be read. */
uint64_t run_folder_count_entries(const char *path);
