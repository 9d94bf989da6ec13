/* What a function answers where memory runs out. */
#ifndef JW_TESTS_LACKING_H
#define JW_TESTS_LACKING_H

#include "check.h"

#include "base/mem.h"

/* So many successes one after the other: it makes fewer allocations. */
enum { LACKING_MOST = 5000, LACKING_NO_MORE = 50 };

/* Calls `does` again and again, so that each of its allocations fails once. It fails for lack of
 * memory, or answers as with enough of it: `does` returns -1, or checks its answer and returns 0.
 */
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
		if (result)
			assert_int_equal(err.code, JW_ERR_MEMORY);
		last = result ? n : last;
	}
	assert_true(n < LACKING_MOST);
	assert_true(last > 0);
}

#endif
