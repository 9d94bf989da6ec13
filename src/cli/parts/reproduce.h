/* The command that reproduces a failure, and its option. */
#pragma once

#include <jitwarm/prime.h>

#include "base/buf.h"
#include "cli/options.h"

/* One shell line that primes only the failed module, with the given options. The caller frees it;
 * NULL and err set when memory is short. */
char *reproduce_command(struct jw_error *err, const struct options *options,
						const struct jw_prime_failure *failure);

/* The offsets of --only; the caller frees them. */
int reproduce_offsets(struct jw_error *err, const struct options *options, uint64_t **ret_offsets,
					  size_t *ret_count);

/* Appends a blank and the word, quoted for a shell. */
int reproduce_add_word(struct jw_error *err, struct buf *line, const char *word);
