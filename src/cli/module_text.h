/* Lines about modules that several commands print. Each begins with `head` and ends with `end`. */
#pragma once

#include <jitwarm/estimate.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"

/* Writes "all 8 modules" or "the only module"; returns `text`. */
const char *module_text_all(char text[TEXT_SHORT], size_t count);
enum { MODULE_TEXT = 512 };
/* Writes about run-time linking: the number of inputs among the modules of the line before, and the
 * link's time, which every start repeats. Returns `text`; NULL if nothing is linked. */
const char *module_text_link(char text[MODULE_TEXT], const char *head, size_t link,
							 const struct jw_forecast *forecast, const char *end);

/* Warns, unless `entries` is 0, that entries were evicted that the driver in use needs. */
void module_text_warn_evicted(const struct output *out, size_t entries);

/* Prints the notes of a plan; one line replaces its assumptions, the last notes,
 * with the command that shows them for the names in `options`. */
void plan_notes_print(const struct output *out, const struct options *options, char *const *notes,
					  size_t count, size_t assumptions);

/* Writes the predicted cost of compiling: "first start 2 to 3 min on one core, prime 35 to 50 s
 * with 4 workers, 77 MB of cache", between `head` and `end`. Returns `text`.
 */
const char *forecast_text(char text[MODULE_TEXT], const char *head,
						  const struct jw_forecast *forecast, const char *end);
/* Returns a line to print after the last forecast; NULL if this machine's speed was measured. */
const char *forecast_doubt(const struct jw_forecast *forecast);
