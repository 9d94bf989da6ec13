/* Permanent settings, as `tune` and `prime --tune` write them. */
#pragma once

#include <jitwarm/tune.h>

#include "cli/command.h"

/* Prints the changes, and which programs to restart. */
void tune_change_print(const struct output *output, const struct jw_tune_request *request,
					   const struct jw_tune_result *result);
/* Returns whether programs of the next login have another cache, or limit, than those of this one.
 */
bool tune_change_is_ahead(const struct jw_cache_info *cache);
/* Prints one change, followed by `but`, unless that is "". */
void tune_change_print_one(const struct output *output, const char *what, const char *where,
						   const char *but);
void tune_change_print_changes(const struct output *output, const struct jw_tune_result *result);
