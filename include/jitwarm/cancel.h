/* Ending a long call early.
 *
 * Threads: `is_cancelled` is called on threads of the library, on several at the same time. */
#ifndef JITWARM_CANCEL_H
#define JITWARM_CANCEL_H

#include <stdbool.h>

#include <jitwarm/api.h>

JW_BEGIN_DECLS

/* A member of the options of each call that may take long. Zeros: the call runs to its end.
 * `is_cancelled` is called often, at least once for each file, entry or module, on the threads of
 * the call. Once it has returned true, it must return true from then on. The call then ends soon:
 * with JW_ERR_INTERRUPTED, or, where its header says so, with a result of the work done so far.
 * Caches, packs and recordings are sound in either case. */
struct jw_cancel {
	void *context;
	bool (*is_cancelled)(void *context);
};

JW_END_DECLS

#endif
