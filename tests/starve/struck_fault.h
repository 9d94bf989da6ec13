/* The n-th call of the system (calls.c) fails in this thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* SIZE_MAX: none fails, and what the calls are is noted. */
void fault_begin(size_t n);
/* Whether anything failed. */
bool fault_end(void);
/* The call that failed. */
const char *fault_struck(void);
/* Where it was called, on standard error. */
void fault_show(void);
/* Whether the n-th call that was noted writes, renames, locks or the like. */
bool fault_changes(size_t n);
