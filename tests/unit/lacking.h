/* What a function answers where memory runs out. */
#pragma once

#include "check.h"

#include <cjson/cJSON.h>

#include "base/error.h"
#include "base/mem.h"

/* So many successes one after the other: it makes fewer allocations. */
enum { LACKING_MOST = 5000, LACKING_NO_MORE = 50 };

/* Calls `does` again and again, so that each of its allocations fails once. It fails for lack of
 * memory, or answers as with enough of it: `does` returns -1, or checks its answer and returns 0 */
static inline void each_allocation_lacks(int (*does)(struct jw_error *err, void *context),
										 void *context)
{
	size_t n = 1, last = 0;

	for (; n < LACKING_MOST && n - last < LACKING_NO_MORE; n++) {
		struct jw_error err = {0};
		int result;

		mem_fail_after(n);
		result = does(&err, context);
		mem_fail_after(0);
		/* A failure that is reported as success has left its error */
		assert_int_equal(err.code, result ? JW_ERR_MEMORY : JW_OK);
		last = result ? n : last;
	}
	assert_true(n < LACKING_MOST);
	assert_true(last > 0);
}

/* ---- each failure must be reported, one line for each function */

enum { STARVE_MOST = 100000 };

static inline void *starve_json_memory(size_t size)
{
	return mem_alloc(NULL, size);
}

/* Whether the n-th allocation was reached: `left` is what mem_fail_after returned. */
static inline bool starve_check(const char *call, size_t n, size_t left, bool failed,
								const struct jw_error *err)
{
	if (left && failed)
		fail_msg("%s: fails with all of its memory: %s", call, err->message);
	if (!failed && err->code)
		fail_msg("%s: allocation %zu: success, and an error: %s", call, n, err->message);
	if (!left && !failed)
		fail_msg("%s: allocation %zu failed, and nothing is said", call, n);
	if (!left && (err->code != JW_ERR_MEMORY || !*err->message))
		fail_msg("%s: allocation %zu: not for memory, but “%s”", call, n, err->message);
	if (left && n == 1)
		fail_msg("%s: allocates nothing", call);
	return !left && n < STARVE_MOST;
}

/* STARVE(call, undo): `call` reports to &err and is 0 where it succeeded; then `undo` frees what it
 * made. What `call` changes must be as good as new after a failure. */
#define STARVE(call, undo)                                                                         \
	do {                                                                                           \
		size_t starve_n = 0, starve_left;                                                          \
		bool starve_failed;                                                                        \
		struct jw_error err;                                                                       \
		cJSON_InitHooks(&(cJSON_Hooks){starve_json_memory, mem_free});                             \
		do {                                                                                       \
			err = (struct jw_error){0};                                                            \
			mem_fail_after(++starve_n);                                                            \
			starve_failed = (call) != 0;                                                           \
			starve_left = mem_fail_after(0);                                                       \
			if (!starve_failed) {                                                                  \
				undo;                                                                              \
			}                                                                                      \
		} while (starve_check(#call, starve_n, starve_left, starve_failed, &err));                 \
		cJSON_InitHooks(NULL);                                                                     \
	} while (0)
