/* The environment of a worker: ours, with the driver's variables set as a worker needs them. */
#ifndef JW_PRIME_ENVIRONMENT_H
#define JW_PRIME_ENVIRONMENT_H

#include <stdint.h>

#include "base/error.h"

/* "NAME=VALUE" strings and a NULL; environment_free lets go of them. NULL and err set on failure.
 */
/* `limit_bytes` becomes CUDA_CACHE_MAXSIZE. */
char **environment_for_worker(struct jw_error *err, const char *cache_dir, uint64_t limit_bytes);
void environment_free(char **environment);

#endif
