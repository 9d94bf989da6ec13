/* Reads what “jitwarm ahead” has recorded about the driver that it prepared for
 * (src/prime/ahead.c). */
#pragma once

#include "base/json.h"

/* Reads the record; NULL if there is none, it cannot be read, or it is older than `most_age_s` (0:
 * of any age). cJSON_Delete frees it. */
cJSON *prepared_read(const char *state_dir, int64_t most_age_s);
