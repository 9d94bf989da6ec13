/* A run's own directory in the state directory: the workers' private caches and the spool. */
#ifndef JW_PRIME_FOLDER_H
#define JW_PRIME_FOLDER_H

#include <stdint.h>

#include "base/error.h"

/* Makes STATE/work/PID-NUMBER and takes away what runs that are no longer alive have left there.
 * The caller frees the name and removes the directory. */
int folder_make(struct jw_error *err, const char *state_dir, char **ret_path);
/* Files other than an index anywhere below a cache directory; 0 where it cannot be read. */
uint64_t folder_count_entries(const char *path);

#endif
