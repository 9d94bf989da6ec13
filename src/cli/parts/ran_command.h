/* What `record` and `run` share: a command that is run, and the report of what it compiled. */
#pragma once

#include <jitwarm/record.h>

#include "cli/command.h"

typedef int (*ran_command_report_fn)(struct jw_error *err, struct cli *cli,
									 const struct jw_record_options *how,
									 const struct jw_record_result *result);

/* Runs the command behind “--” as `how` says; `report` prints its result. The names before “--” are
 * the files to search. With `how->live` the command gets a larger limit of the cache unless the
 * user has set one. Ends with the command's status, 127 where there is no such command, 126 where
 * it cannot be started. */
int ran_command(struct jw_error *err, struct cli *cli, struct jw_record_options *how,
				ran_command_report_fn report);

/* Prints the entries that appeared in caches other than the command's. */
void ran_command_print_elsewhere(const struct output *out, const struct jw_record_result *result);
/* Prints the modules that are in no file, by kind. */
void ran_command_print_others(const struct output *out, const struct jw_recording *recording);
