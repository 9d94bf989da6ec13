/* The command with which a failure can be seen again, and the option that it uses. */
#pragma once

#include <jitwarm/prime.h>

#include "cli/options.h"

/* One line for a shell: it primes the module that failed, and nothing else, with the options that
 * were given. The caller frees it; NULL and err set where memory is short. */
char *reproduce_command(struct jw_error *err, const struct options *options,
						const struct jw_prime_failure *failure);

/* The offsets of --only; the caller frees them. */
int reproduce_offsets(struct jw_error *err, const struct options *options, uint64_t **ret_offsets,
					  size_t *ret_count);
