/* What jw_find had to say about names: notes, and warnings for names that led to nothing. */
#pragma once

#include <jitwarm/find.h>

#include "cli/output.h"

void found_print_notes(const struct output *output, const struct jw_found *found);
