/* Permanent settings, as `tune` and `prime --tune` write them. */
#pragma once

#include <jitwarm/tune.h>

#include "cli/command.h"
#include "cli/parts/module_text.h"

/* Reads "user", "system", "shell". JW_ERR_USAGE. */
int tune_change_scope(struct jw_error *err, const char *text, struct jw_tune_request *request);

/* Prints the changes, and which programs to restart. */
void tune_change_print(const struct output *output, const struct jw_tune_request *request,
					   const struct jw_tune_result *result);
/* For `prime --tune`: sets the limit that these files need, for this account and this run. Does
 * nothing if the current limit suffices. */
int tune_change_on_the_way(struct jw_error *err, struct cli *cli, const struct found_files *files);
/* Whether the programs of the next login have another cache, or limit, than those of this one. */
bool tune_change_is_ahead(const struct jw_cache_info *cache);
/* The line that ends a command which leaves nothing to compile, where programs of this login do not
 * use that yet: the cache is another one, or keeps less than this size. False: they do. */
bool tune_change_print_login(const struct output *output, const struct jw_cache_info *cache,
							 uint64_t bytes);
/* `but`: behind it; "" for nothing. */
void tune_change_print_one(const struct output *output, const char *what, const char *where,
						   const char *but);
void tune_change_print_changes(const struct output *output, const struct jw_tune_result *result);
