#pragma once

#include <stdbool.h>

/* Whether one may fail now: nothing is asked about the others, which are most. */
bool starve_waits(void);
/* Whether this call of the system ("open", "fsync") is the one that fails. */
bool starve_strikes(const char *call);

/* The error of each call that fails; 0: the one that such a call has. */
extern int starve_error;
/* What the last call was for. */
enum { STARVE_PATH = 4096 };
extern _Thread_local char starve_path[STARVE_PATH];
