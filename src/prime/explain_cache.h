/* The part of explain.h that looks at the cache's other entries. */
#pragma once

#include "prime/explain.h"

/* Finds, for modules that were never primed as far as is known, entries that other drivers have
 * made of them, or this one with other options or for other GPUs. */
int explain_by_cache(struct jw_error *err, const struct explain_request *request,
					 struct explanation *explanations);
