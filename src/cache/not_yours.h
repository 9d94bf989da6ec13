/* Files in the cache that belong to other accounts and keep this one out. */
#pragma once

/* Returns such a line about a folder in `dir`, root's cache or state, that another account can
 * change; NULL if there is none, or if this account is not root. The caller frees it. */
char *cache_not_roots(const char *dir);

/* Returns a line about the first file or folder of another account in a cache directory, with the
 * command that gets it back; NULL if there is none. The caller frees it. */
char *cache_not_yours(const char *dir);
