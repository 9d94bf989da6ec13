/* Looking as an account with variables that a program of the system has named. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* CUDA_CACHE_PATH as the process has it that is looked as, where it is relative: in the environment
 * it is absolute now. */
const char *look_as_relative_cache(void);

/* As jw_look_as_process, with these variables: name, value, name, … `name` NULL: the account of the
 * number. `has_home`: HOME is that account's, unless a variable says otherwise. */
int look_as_account(struct jw_error *err, const char *name, uint32_t owner, bool has_home,
					const char *const *variables, size_t count);
