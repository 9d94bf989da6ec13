/* Text that is shown to strangers. */
#pragma once

#include "base/error.h"

/* A copy without the folders of absolute paths ("…/libx.so") and with “USER” for this account's
 * name; the caller frees it. */
char *hidden_names(struct jw_error *err, const char *text);
