/* What “jitwarm ahead” has written of the driver that it prepared for (src/prime/ahead.c). */
#pragma once

#include "base/json.h"

/* NULL: none, one that cannot be read, or one that is older; 0: of any age. cJSON_Delete frees it.
 */
cJSON *prepared_read(const char *state_dir, int64_t most_age_s);
