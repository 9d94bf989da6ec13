/* Asks whether a long call has to end early (jitwarm/cancel.h). */
#pragma once

#include <jitwarm/cancel.h>

#include "base/error.h"

/* Returns whether the call has to end; a NULL `cancel` never asks for that. */
static inline bool cancel_asked(const struct jw_cancel *cancel)
{
	return cancel && cancel->is_cancelled && cancel->is_cancelled(cancel->context);
}

/* Returns -1 with JW_ERR_INTERRUPTED if the call has to end. */
static inline int cancel_check(struct jw_error *err, const struct jw_cancel *cancel)
{
	return cancel_asked(cancel) ? error_set(err, JW_ERR_INTERRUPTED, "interrupted") : 0;
}
