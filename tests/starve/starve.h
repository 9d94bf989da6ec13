#pragma once

#include <stdbool.h>

/* Whether this call of the system ("open", "fsync") is the one that fails. */
bool starve_strikes(const char *call);
