/* The predicted cost of compiling, in one line that `scan`, `check` and `prime` share. */
#pragma once

#include <jitwarm/estimate.h>

#include "cli/output.h"

/* "first start 2 to 3 min on one core, prime 35 to 50 s with 4 workers, 77 MB of cache", between
 * `head` and `end`. */
void forecast_text_line(const struct output *out, const char *head,
						const struct jw_forecast *forecast, const char *end);
/* A note after the last of them if this machine's speed was not measured. */
void forecast_text_doubt(const struct output *out, const struct jw_forecast *forecast);
