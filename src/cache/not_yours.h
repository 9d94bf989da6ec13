/* Whose the cache is: files of other accounts that keep this one out of it. */
#pragma once

/* A line about the first file or folder of another account in a cache directory, with the command
 * that gets it back; NULL if there is none. The caller frees it. */
char *cache_not_yours(const char *dir);
