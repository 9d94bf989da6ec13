/* The packages of the active environment, as `status` shows them. */
#pragma once

#include <jitwarm/check.h>

#include "cli/output.h"

/* A block of lines that begins with the environment's folder. */
void packages_text(const struct output *out, const char *environment,
				   const struct jw_check_result *result);
