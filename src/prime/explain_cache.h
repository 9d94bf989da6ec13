/* The part of explain.h that reads the cache's other entries. */
#pragma once

#include "prime/explain.h"

/* For modules with no known history, finds entries that other drivers have compiled from them, or
 * that this driver has compiled with other options or for other GPUs. */
int explain_by_cache(struct jw_error *err, const struct explain_request *request,
					 struct explanation *explanations);
