/* Fills in struct jw_error. Each function returns -1, so that `return error_set(...)` reads well */
#pragma once

#include <jitwarm/error.h>

#include "base/text.h"

/* Sets the message. `err` may be NULL. */
int error_fill(struct jw_error *err, enum jw_code code, const char *format, ...) JW_PRINTF(3, 4);

/* Puts "where: " (a file, a module) in front of the existing message. Keeps the code. */
int error_fill_prefix(struct jw_error *err, const char *format, ...) JW_PRINTF(2, 3);

/* Copies a caught error to the caller. */
int error_fill_copy(struct jw_error *err, const struct jw_error *why);

/* For an error of a lookup: returns 0 if the thing is missing (JW_ERR_NOT_FOUND), and copies any
 * other error (no right, a bad disk), which says nothing about whether it exists. */
int error_unless_missing(struct jw_error *err, const struct jw_error *why);

/* The form that callers use. It lets the compiler and analysers see the -1; otherwise they assume
 * that a failed function may return 0 with its outputs unset. */
static inline int error_result(int filled)
{
	(void)filled;
	return -1;
}
#define error_set(...)    error_result(error_fill(__VA_ARGS__))
#define error_prefix(...) error_result(error_fill_prefix(__VA_ARGS__))
#define error_copy(...)   error_result(error_fill_copy(__VA_ARGS__))

/* Returns the message, or ""; never NULL. */
const char *error_text(const struct jw_error *err);
