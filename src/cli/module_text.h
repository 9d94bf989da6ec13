/* Lines about modules that several commands print. Each begins with `head` and ends with `end`; for
 * 0 modules they print nothing. */
#pragma once

#include <jitwarm/estimate.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"

/* "all 8 modules", "the only module"; returns `text`. */
const char *module_text_all(char text[TEXT_SHORT], size_t count);
/* Run-time linking: the number of inputs among the modules of the line before, and the link's time,
 * which every start repeats. Prints nothing if nothing is linked. */
void module_text_link(const struct output *out, const char *head, size_t link,
					  const struct jw_forecast *forecast, const char *end);

/* The notes of a plan; without `all` one line in place of its assumptions, the last notes, with the
 * command that shows them for what `options` name. */
void plan_notes_print(const struct output *out, const struct options *options, char *const *notes,
					  size_t count, size_t assumptions, bool all);

/* The predicted cost of compiling, in one line that `scan`, `check` and `prime` share. */

/* "first start 2 to 3 min on one core, prime 35 to 50 s with 4 workers if nothing else runs, 77 MB
 * of cache", between `head` and `end`. */
void forecast_text_line(const struct output *out, const char *head,
						const struct jw_forecast *forecast, const char *end);
/* A note after the last of them if this machine's speed was not measured. */
void forecast_text_doubt(const struct output *out, const struct jw_forecast *forecast);
