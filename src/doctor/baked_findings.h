/* The findings about libraries that were baked in their places. */
#pragma once

#include "doctor/examination.h"

/* A baked library has code that the driver here is too old for: programs fail. */
bool is_baked_for_newer(const struct examination *seen, struct finding_draft *draft);
/* An upgrade has replaced what was baked for the GPUs here. */
bool is_baked_replaced(const struct examination *seen, struct finding_draft *draft);

/* One of the libraries is as it was baked for a GPU that is here. */
bool is_baked_for_here(const struct examination *seen);

/* Whether all libraries with cold modules are such: baking them again is what helps, not priming */
bool are_cold_replaced(const struct examination *seen);
/* A baked library among those with cold modules that has nothing for the GPUs here; NULL: none. */
const struct jw_baked *baked_for_others(const struct examination *seen);
