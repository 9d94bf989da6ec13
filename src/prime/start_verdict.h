/* The verdict on a plan. */
#pragma once

#include <jitwarm/find.h>
#include <jitwarm/system.h>
#include <jitwarm/verdict.h>

#include "plan/plan.h"

/* Returns the verdict on a plan. `found` has all examined files, with or without device code.
 * `here` means that the programs run with this machine's settings, which do not apply with --cache
 * (jw_cache_info.named) or another machine's driver. `cache` is what the driver will do with the
 * cache. */
enum jw_verdict verdict_of(const struct plan *plan, const struct jw_found *found,
						   const struct jw_cache_info *settings, bool here,
						   const struct jw_cache_outlook *cache);
