/* What is set where. */
#pragma once

#include <jitwarm/tune.h>

/* What the file of a scope sets; nothing on Windows. The caller frees with jw_settings_free. */
int settings_read_scope(struct jw_error *err, enum jw_scope scope,
						struct jw_settings **ret_settings);
