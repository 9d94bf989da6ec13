/* The account of this process. */
#pragma once

#include <stdbool.h>

#include <jitwarm/error.h>

/* Returns whether this process may write into other accounts' folders: it is root's, or on Windows
 * an administrator's and elevated. */
bool jw_is_administrator(void);

/* Returns a line that says why the live cache of this process is probably not the intended one:
 * under sudo it is root's; Windows' SYSTEM has a cache that no user's program reads. NULL if it is
 * the user's. The caller frees it with jw_text_free. */
int jw_account_doubt(struct jw_error *err, char **ret_line);
