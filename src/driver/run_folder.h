/* A run's own directory in the state directory: the workers' private caches and the spool. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct run_folder {
	char *path;
	struct os_file *lock; /* held while the run is active, which other processes can check */
	bool temporary;       /* the lock is inside the folder; otherwise beside it (os/claimed.h) */
};

/* Removes the folders of killed runs, as run_folder_make also does. `state_dir` may be NULL. */
void run_folder_sweep(const char *state_dir);
/* Returns the id of another process whose folder is in the state directory; 0 if there is none. */
int run_folder_living(const char *state_dir);
/* Makes STATE/runs/PID-NUMBER, and removes the folders of dead runs. If the state directory cannot
 * be written to, is on a network, or is NULL, makes the folder in the system's temporary directory.
 * run_folder_remove removes it with its content. */
int run_folder_make(struct jw_error *err, const char *state_dir, struct run_folder *ret_folder);
/* Removes the folder; {0}, never made, is valid. */
void run_folder_remove(struct run_folder *folder);
/* Counts the files other than an index anywhere below a cache directory; 0 if it cannot be read. */
uint64_t run_folder_count_entries(const char *path);
