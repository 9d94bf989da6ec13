/* Files in the cache that belong to other accounts and keep this one out. */
#pragma once

#include <jitwarm/system.h>

/* Finds a folder in `dir`, root's cache or state, that another account can change; none if this
 * account is not root. The caller frees it with jw_not_yours_free. */
struct jw_not_yours cache_not_roots(const char *dir);

/* Finds the first file or folder of another account in a cache directory. The caller frees it. */
struct jw_not_yours cache_not_yours(const char *dir);
