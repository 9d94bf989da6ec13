/* Structs of the public API that grow at their end. Each begins with its size as the program was
 * compiled with, which may be an older or a newer one than ours. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* `known`: what was given, with zeros for the members that an older program does not have. NULL
 * and JW_ERR_USAGE: no size, or members that this library does not know and that are not zero. */
const void *sized_take(struct jw_error *err, const void *given, void *known, size_t size);

/* A statement of its own at the beginning of a function that takes `const type *given`; the copy
 * lives as long as the function's block. */
#define SIZED(err, given, type) sized_take((err), (given), &(type){0}, sizeof(type))

/* For a result that the caller provides. JW_ERR_USAGE: no size. */
int sized_check(struct jw_error *err, const void *result);
/* Copies into it what fits, with zeros behind. */
void sized_give(const void *known, size_t size, void *ret_result);
