/* Explains why modules are cold, from the cache alone: a damaged entry, an entry that this account
 * cannot read, another driver's entries in place of this one's, or nothing. */
#pragma once

#include "plan/plan.h"

/* Writes all reasons of a plan in one line, the most frequent first: "6 modules: never primed; 2
 * modules: …". Empty if nothing is cold. Reads the index and at most 64 entries. */
enum { EXPLAIN_LINE = 1024 };
void explain_line(char line[EXPLAIN_LINE], const struct plan *plan);
/* Writes the most frequent reason: "the driver has changed from 535.309.01 to 550.163.01". Empty if
 * nothing is cold. Returns `text`. */
enum { EXPLAIN_TEXT = 320 };
const char *explain_most(char text[EXPLAIN_TEXT], const struct plan *plan);
