/* What an upgrade has put in the place of a library whose name has its version or a hash in it. */
#pragma once

#include "bake/journal.h"

struct successors {
	size_t count;
	char *first; /* without links; NULL: none. The caller frees it */
};

/* Of a library that is gone: the files of its folder whose names differ from its name only in
 * numbers and hashes, that the same package lists, and that were not baked themselves. */
int successors_find(struct jw_error *err, const char *state_dir, const struct journal *journal,
					struct successors *ret_successors);

/* Whether two names differ only in runs of digits, and in hashes as auditwheel and delvewheel add
 * them (libx-0a1b2c3d.so.1). */
bool successor_is_alike(const char *a, const char *b);
