/* Groups explanations for a report. */
#pragma once

#include "prime/explain.h"

/* One cause for each library, architecture and reason, ordered by library. The caller frees
 * *ret_causes with explain_causes_free. */
int explain_causes(struct jw_error *err, const struct explain_request *request,
				   const struct explanation *explanations, struct jw_check_cause **ret_causes,
				   size_t *ret_count);
void explain_causes_free(struct jw_check_cause *causes, size_t count);
