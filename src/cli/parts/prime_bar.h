/* The progress bar of a run that compiles: its reports and messages (jw_prime_options), shown. */
#pragma once

#include <stdbool.h>

#include <jitwarm/prime.h>

#include "cli/progress.h"

struct prime_bar {
	const struct output *output;
	struct progress progress;
	bool is_shown;
};

/* Shows a report. The first one starts the bar, since a run may wait for another one before it;
 * results that are put away end it. `bar`: a struct prime_bar. */
void prime_bar_report(void *bar, const struct jw_prime_progress *report);
/* A line above the bar, or a note where there is none. `bar`: a struct prime_bar. */
void prime_bar_message(void *bar, const char *line);
/* Removes the bar, if there is one. */
void prime_bar_end(struct prime_bar *bar);
