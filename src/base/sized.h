/* Structs of the public API that grow at their end. Each begins with its size at the program's
 * compile time, which may be smaller or larger than ours. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Copies `given` to `known`, with zeros for members that an older program does not have. NULL and
 * JW_ERR_USAGE: no size, or non-zero members that this library does not know. */
const void *sized_take(struct jw_error *err, const void *given, void *known, size_t size);

/* A statement at the beginning of a function that takes `const type *given`; the copy lives as long
 * as the function's block. */
#define SIZED(err, given, type) sized_take((err), (given), &(type){0}, sizeof(type))

/* For a result that the caller allocates. JW_ERR_USAGE: no size. */
int sized_check(struct jw_error *err, const void *result);
/* Copies what fits into it, with zeros behind. */
void sized_give(const void *known, size_t size, void *ret_result);
