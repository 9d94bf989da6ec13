/* A module of an image or of the plan: PTX that drivers would compile for one GPU architecture. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/set.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "code/devcode.h"
#include "plan/estimate.h"

enum { PLAN_MAX_TARGETS = 32 };

enum plan_state {
	PLAN_COLD,     /* the live cache has no entry that a driver uses */
	PLAN_WARM,     /* its entry exists */
	PLAN_LEFT_OUT, /* outside the registered sections of a library with more than 32 MB of such PTX,
					  without --all */
	PLAN_REFUSED,  /* the driver has refused it before (pack/ledger.h) */
	PLAN_RESTORED, /* in a dry run: cold, and an earlier result would take its place */
	PLAN_OVER_BUDGET, /* cold, and excluded by a budget of this run (prime/budget.h), or not used */
};

/* One module for one architecture: each distinct (payload, options, form, architecture) once in an
 * image, and then once in the plan. */
struct plan_module {
	uint32_t target; /* an index into the question's and the plan's targets */
	/* The drivers that compile it: bit 0 for the question's, bit 1 + i for number i of
	 * gpu_releases. */
	uint64_t drivers;
	uint64_t container_offset, container_bytes; /* the place in the image */
	uint64_t entry_offset;                      /* the place of the PTX that the driver will take */
	uint64_t payload_bytes;
	enum devcode_role role;
	enum cache_key_form form;
	bool superseded;    /* a text in a program's data, while another text has the same kernels for a
						   newer target */
	uint64_t key;       /* the entry's name; 0 if the profile has no stamp */
	uint64_t key_bytes; /* the length of the key */
	struct jw_identity identity; /* of the key, or of that which it would be but for the start */
	/* Features of the PTX: inputs of the cost model (docs/internals/estimates.md). */
	struct plan_features features;

	/* Set by the plan: */
	uint32_t file; /* an index into plan.files: the first file that contains it */
	enum plan_state state;
	enum cache_damage damage; /* the damage of the existing entry */
	/* A start may not need it: it is in no registered section of its library, which loads it when
	 * it is needed, or most containers of the library have code that runs as it is, or it is a
	 * package's loose file. */
	bool on_demand;
	bool used;      /* a command of “jitwarm run” had it compiled (pack/ledger.h) */
	bool restored;  /* it was cold, and an earlier result takes its place (prime/planning.h) */
	bool keyed;     /* named by a key of the request's `next_key`, or of its cache */
	double cost_ms; /* the predicted wall time on one core of this machine */
	uint64_t entry_bytes;  /* the bytes of its entry that count against the cache's limit; predicted
							  unless warm */
	uint64_t memory_bytes; /* the predicted peak memory of the compile, doubled for admission,
							  without the driver's context */
};

/* Returns a hash; only modules with the same hash may be the same (module_find). */
static inline uint64_t module_name(const struct plan_module *module)
{
	return cache_identity_hash(&module->identity);
}
/* Returns the one of `modules` that the driver compiles once with `like`, or NULL. `known` has
 * their places by hash, for the same target. */
static inline struct plan_module *module_find(struct plan_module *modules, const struct set *known,
											  const struct plan_module *like)
{
	size_t cursor = 0, index;

	while ((index = set_find(known, module_name(like), &cursor)) != SET_NONE)
		if (modules[index].key == like->key && modules[index].form == like->form &&
			cache_identity_equal(&modules[index].identity, &like->identity))
			return &modules[index];
	return NULL;
}
