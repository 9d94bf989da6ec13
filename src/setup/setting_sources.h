/* Which variables are set, and where. */
#pragma once

#include <jitwarm/tune.h>

/* Reads the settings in the file of a scope; none on Windows. The caller frees them with
 * jw_result_free. */
int settings_read_scope(struct jw_error *err, enum jw_scope scope,
						struct jw_settings **ret_settings);
