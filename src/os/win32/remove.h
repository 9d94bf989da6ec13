/* Deletion by handle. */
#pragma once

#include "os/win32/opening.h"

/* Removes everything in an open folder (FILE_LIST_DIRECTORY), wherever that is by now. Links go
 * themselves. `path` is for the message. */
int win32_remove_content(struct jw_error *err, HANDLE folder, const char *path);
