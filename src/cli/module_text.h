/* Lines about modules that several commands print. Each begins with `head` and ends with `end`; for
 * 0 modules nothing is printed. */
#pragma once

#include <jitwarm/estimate.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"

/* Writes "all 8 modules" or "the only module"; returns `text`. */
const char *module_text_all(char text[TEXT_SHORT], size_t count);
/* Prints run-time linking: the number of inputs among the modules of the line before, and the
 * link's time, which every start repeats. Prints nothing if nothing is linked. */
void module_text_link(const struct output *out, const char *head, size_t link,
					  const struct jw_forecast *forecast, const char *end);

/* Prints the notes of a plan; without `all`, one line replaces its assumptions, the last notes,
 * with the command that shows them for the names in `options`. */
void plan_notes_print(const struct output *out, const struct options *options, char *const *notes,
					  size_t count, size_t assumptions, bool all);

/* ---- the predicted cost of compiling, in one line that `scan`, `check` and `prime` share */

/* Prints "first start 2 to 3 min on one core, prime 35 to 50 s with 4 workers if nothing else runs,
 * 77 MB of cache", between `head` and `end`. */
void forecast_text_line(const struct output *out, const char *head,
						const struct jw_forecast *forecast, const char *end);
/* Prints a note after the last line if this machine's speed was not measured. */
void forecast_text_doubt(const struct output *out, const struct jw_forecast *forecast);
