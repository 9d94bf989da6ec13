/* What became of a pack, for people. */
#ifndef JW_CLI_PARTS_IMPORT_REPORT_H
#define JW_CLI_PARTS_IMPORT_REPORT_H

#include <stdbool.h>

#include <jitwarm/pack.h>

#include "cli/output.h"

void import_report_print(const struct output *out, const struct jw_import_result *result,
						 bool dry_run);

#endif
