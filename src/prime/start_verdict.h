/* The verdict on a plan. */
#pragma once

#include <jitwarm/find.h>
#include <jitwarm/system.h>
#include <jitwarm/verdict.h>

#include "plan/plan.h"

/* `found`: what was looked into, with or without device code. `here`: the programs run with this
 * machine's settings, which --cache (jw_cache_info.named) and another machine's driver take out of
 * the question. `cache`: what the driver does with it. */
enum jw_verdict verdict_of(const struct plan *plan, const struct jw_found *found,
						   const struct jw_cache_info *settings, bool here,
						   const struct jw_cache_outlook *cache);
