/* Versions of Python packages, and what a requirement says of them (PEP 440). */
#pragma once

#include <stdbool.h>

/* Whether `text` is a list of clauses such as ">=1.3,<2", "~=2.1", "==1.3.*", "!=1.4" or conda's
 * "=1.3"; blanks between its parts do not count. The empty list is one. */
bool version_is_wanted(const char *text);

/* Whether `version` satisfies each clause of such a list. A local part ("+cu118") counts only where
 * the clause has one. A version that PEP 440 does not know satisfies only clauses with its text. */
bool version_fits(const char *version, const char *wanted);
