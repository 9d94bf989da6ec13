/* Ending a long call early.
 *
 * Threads: `is_cancelled` is called on threads of the library, on several at the same time. */
#ifndef JITWARM_CANCEL_H
#define JITWARM_CANCEL_H

#include <stdbool.h>

#include <jitwarm/api.h>

JW_BEGIN_DECLS

/* A member of the options of each call that takes long. Zeros: the call runs to its end.
 * `is_cancelled` is asked often, at least once a file, entry or module, on the threads of the call.
 * Once it has returned true it must go on doing so. The call then ends soon: with
 * JW_ERR_INTERRUPTED, or where its header says so with a result that tells what was done by then.
 * Caches, packs and recordings are sound at any such end. */
struct jw_cancel {
	void *context;
	bool (*is_cancelled)(void *context);
};

JW_END_DECLS

#endif
