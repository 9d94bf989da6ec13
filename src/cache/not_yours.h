/* Files in the cache that belong to other accounts and keep this one out. */
#pragma once

/* Returns a line about the first file or folder of another account in a cache directory, with the
 * command that gets it back; NULL if there is none. The caller frees it. */
char *cache_not_yours(const char *dir);
