/* Ends a long call early.
 *
 * Threads: the library calls `is_cancelled` on its threads, on several at the same time. */
#pragma once

#include <stdbool.h>

/* A member of the options of each call that may take long. With zeros the call runs to its end. The
 * call polls `is_cancelled` often, at least once for each file, entry or module, on its threads.
 * Once it has returned true, it must return true from then on. The call then ends soon: with
 * JW_ERR_INTERRUPTED, or, if its header says so, with a result of the work done so far. Caches,
 * packs and recordings are sound in either case. */
struct jw_cancel {
	void *context;
	bool (*is_cancelled)(void *context);
};
