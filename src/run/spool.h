/* Where workers find the bytes of each module.
 *
 * A container in a plain file is read there by the worker itself. What lies in a wheel or is
 * compressed as a whole is taken out once, one archive after the other, into a file of the run's
 * own, which holds nothing but the containers that are wanted.
 */
#pragma once

#include "plan/plan.h"

struct spool_place {
	const char *path; /* of the library or of the spool; NULL: could not be had */
	uint64_t offset, size_bytes;
};

struct spool {
	char *path; /* of the spool file; NULL while nothing had to be taken out */
	struct os_file *file;
	uint64_t used_bytes;
	struct spool_place *places; /* one for each module of the plan */
};

/* Finds a place for every cold module of the plan. `folder`: the run's own directory. `why` of a
 * module that could not be had is reported through `trouble` (may be NULL); the others are found
 * all the same. `cancel` may be NULL: JW_ERR_INTERRUPTED. */
int spool_fill(struct jw_error *err, const struct plan *plan, const char *folder,
			   void (*trouble)(void *context, const char *line), void *context,
			   const struct jw_cancel *cancel, struct spool *ret_spool);
void spool_free(struct spool *spool);
