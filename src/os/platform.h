/* Which system this is. */
#pragma once

#include <stdbool.h>

/* "linux" or "windows". */
extern const char os_name[];
/* Whether this Linux runs inside Windows (WSL): its driver comes from Windows, and its cache
 * differs from that of Windows programs. */
bool os_is_wsl(void);
