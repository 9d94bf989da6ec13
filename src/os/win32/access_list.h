/* Who can change a file or folder, according to its owner and its access list. */
#pragma once

#include "base/error.h"
#include "os/win32/win32.h"

/* The rights that count: those that change a file, that add to the folder in question, that move
 * away a folder further up, or that let a folder lead elsewhere. */
enum win32_place { WIN32_FILE, WIN32_FOLDER, WIN32_ABOVE, WIN32_LINK };

/* Returns 0 if only administrators, the system, its installer, and the owner of the system's folder
 * have these rights; else JW_ERR_IO with the reason. The handle needs READ_CONTROL. */
int win32_check_trust(struct jw_error *err, HANDLE handle, const char *path,
					  enum win32_place place);
