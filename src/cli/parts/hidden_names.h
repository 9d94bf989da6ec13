/* Text that is shown to strangers. */
#pragma once

#include "base/error.h"

/* A copy without the folders of absolute paths and of values ("…/libx.so", "NAME=…/cache"), and
 * with “USER” for the name of this account or of sudo's caller; the caller frees it. */
char *hidden_names(struct jw_error *err, const char *text);
