/* The result of an import, as text. */
#pragma once

#include <jitwarm/pack.h>

#include "cli/output.h"

void import_report_print(const struct output *out, const struct jw_import_result *result);
