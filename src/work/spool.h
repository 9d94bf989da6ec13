/* The place of each module's bytes, for workers. A worker reads a container in a plain file itself.
 * A container in a wheel, or in a file compressed as a whole, is extracted once, one archive after
 * the other, into the run's spool file, which contains only the wanted containers. */
#pragma once

#include "plan/plan.h"

struct spool_place {
	const char *path; /* the library or the spool; NULL if not available */
	uint64_t offset, size_bytes;
};

struct spool {
	char *path; /* the spool file; NULL as long as there is none */
	struct os_file *file;
	uint64_t used_bytes;
	struct spool_place *places; /* one for each module of the plan */
};

/* Finds a place for every cold module of the plan. `folder` is the run's own directory. `trouble`
 * (may be NULL) is called with the reason why a module could not be read; the others are found
 * nevertheless. `cancel` may be NULL. JW_ERR_INTERRUPTED if cancelled. */
int spool_fill(struct jw_error *err, const struct plan *plan, const char *folder,
			   void (*trouble)(void *context, const char *line), void *context,
			   const struct jw_cancel *cancel, struct spool *ret_spool);
void spool_free(struct spool *spool);
