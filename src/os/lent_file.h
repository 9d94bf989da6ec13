/* A file that a library of others opens by its path, as libcurl does: the path leads to what was
 * looked at, whatever becomes of the name. */
#pragma once

#include <stddef.h>

#include "base/error.h"

struct os_lent {
	struct os_file *file;
	char *path; /* to be opened; NULL: there is none */
};

/* Refuses devices, pipes and folders (JW_ERR_UNSUPPORTED), what only the superuser may read where
 * the name is another account's, and more than `most` bytes (JW_ERR_LIMIT). On systems without
 * /proc the path is the file's own. */
int os_lend(struct jw_error *err, const char *path, size_t most, struct os_lent *ret_lent);
/* Names and passwords of hosts: what NETRC names, or .netrc in the home folder (Windows: or
 * _netrc). None where it cannot be lent. */
struct os_lent os_lend_netrc(void);
void os_lent_close(struct os_lent *lent);
