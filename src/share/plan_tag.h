/* A plan's own tag: "p-" and 40 hex digits of a hash over the sorted names of its entries. It
 * follows from files, driver and GPU, so that machines of one kind find each other's packs without
 * asking what there is. */
#pragma once

#include <jitwarm/find.h>
#include <jitwarm/share.h>

#include "base/cancel.h"
#include "base/set.h"

/* The modules of files for one architecture, warm or not. */
struct share_plan {
	struct jw_target target;
	uint64_t *keys; /* sorted, each once */
	size_t count;
	char tag[JW_PLAN_TAG];
};
struct share_plans {
	struct share_plan *items; /* those with modules, in the order of the system's GPUs */
	size_t count;
	struct set keys; /* of all */
};

/* JW_ERR_USAGE: the driver's names or the GPUs are not known; JW_ERR_UNSUPPORTED: no module would
 * be compiled. The caller frees them. */
int share_plans_find(struct jw_error *err, const struct jw_system *system,
					 const struct jw_found *found, const struct jw_cancel *cancel,
					 struct share_plans *ret_plans);
void share_plans_free(struct share_plans *plans);

/* Sorts the names, and drops repeated ones. */
int share_plan_tag(struct jw_error *err, uint64_t *keys, size_t *count, char tag[JW_PLAN_TAG]);
