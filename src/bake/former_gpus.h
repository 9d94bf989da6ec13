/* A library that is baked in its place once more keeps the code of the GPUs that it was baked for
 * before. */
#pragma once

#include "bake/journal.h"
#include "plan/analyse.h"

struct former_gpus {
	struct jw_target kept[3 * ANALYSE_MOST_TARGETS]; /* whose code does not leave to make room */
	size_t kept_count;
	char targets[JOURNAL_TEXT]; /* for the journal: all that it has code for then */
};

/* `journal`: of the library as it is now; NULL: it was not baked. `kept` and `targets`: what is
 * asked for now. What the journal names and is no GPU is passed over. */
void former_gpus_join(const struct journal *journal, const struct jw_target *kept,
					  size_t kept_count, const struct jw_target *targets, size_t target_count,
					  struct former_gpus *ret_gpus);
