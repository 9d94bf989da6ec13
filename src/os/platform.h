/* Which system this is. */
#pragma once

#include <stdbool.h>

/* "linux" or "windows". */
extern const char os_name[];
/* Whether this Linux runs inside Windows (WSL): its driver is Windows' own, handed in, and its
 * cache another than that of Windows' programs. */
bool os_is_wsl(void);
