/* Filling in struct jw_error. Each of these is -1, so that `return error_set(...)` reads well. */
#pragma once

#include <jitwarm/error.h>

#if defined(__MINGW32__)
#define JW_PRINTF(at, first) __attribute__((format(gnu_printf, at, first)))
#else
#define JW_PRINTF(at, first) __attribute__((format(printf, at, first)))
#endif

/* Sets the message. `err` may be NULL. */
int error_fill(struct jw_error *err, enum jw_code code, const char *format, ...) JW_PRINTF(3, 4);

/* Puts "where: " in front of a message that is already there: which file, which module. Keeps the
 * code. */
int error_fill_prefix(struct jw_error *err, const char *format, ...) JW_PRINTF(2, 3);

/* Gives the caller an error that was caught on the way. */
int error_fill_copy(struct jw_error *err, const struct jw_error *why);

/* What callers use. They are -1 in sight of the compiler and of analysers, which otherwise believe
 * that a function that failed may return 0 with its outputs unset. */
static inline int error_result(int filled)
{
	(void)filled;
	return -1;
}
#define error_set(...)    error_result(error_fill(__VA_ARGS__))
#define error_prefix(...) error_result(error_fill_prefix(__VA_ARGS__))
#define error_copy(...)   error_result(error_fill_copy(__VA_ARGS__))

/* The message, or "". Never NULL. */
const char *error_text(const struct jw_error *err);
