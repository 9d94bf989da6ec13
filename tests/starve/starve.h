#pragma once

#include <stdbool.h>

/* Whether this call of the system is the one that fails. */
bool starve_strikes(void);
