/* Lines on modules that several commands print. Each begins with `head` and ends with `end`;
 * nothing is printed on 0 modules. */
#pragma once

#include <jitwarm/estimate.h>

#include "base/text.h"
#include "cli/output.h"

/* Those of `what` that are not the driver's own: carried over, and split. */
void module_text_marks(const struct output *out, const char *head, const char *what, size_t carried,
					   size_t split, const char *end);
/* "all 8 modules", "the only module"; returns `text`. */
const char *module_text_all(char text[TEXT_SHORT], size_t count);
/* Inputs of run-time linking among the modules of the line before, and how long the linking takes
 * that every start repeats. Nothing is printed where nothing is linked. */
void module_text_link(const struct output *out, const char *head, size_t link,
					  const struct jw_forecast *forecast, const char *end);
