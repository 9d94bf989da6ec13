/* Decides whether root may let NVIDIA's driver itself work in a cache. The driver follows every
 * symlink in its cache, when it writes an entry and when it deletes all of them (measured on 550),
 * and writes into folders of other accounts. */
#pragma once

#include <stdbool.h>

struct cache_unsafe {
	char *why;     /* "/cache/f/e is a symlink" */
	char *command; /* removes what other accounts can have left there, or the access list by which
					  they could; NULL if the directory itself is not root's alone */
};

/* Returns whether another account could choose what root's driver changes in the cache directory
 * `dir`; the caller frees the texts. False if this account is not the superuser; on Windows, as
 * os_is_private says. */
bool cache_is_unsafe(const char *dir, struct cache_unsafe *ret_unsafe);
void cache_unsafe_free(struct cache_unsafe *unsafe);
