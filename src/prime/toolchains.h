/* The compilers with which programs compile while they run: NVRTC, NVVM, nvJitLink, ptxas. */
#pragma once

#include <jitwarm/cancel.h>
#include <jitwarm/check.h>
#include <jitwarm/find.h>

#include "plan/plan.h"

/* Lists in result->compilers those that do not fit the driver, one of the result's GPUs, or the
 * plan's code, which is `search`'s: nvJitLink reads only PTX that is no newer than itself. A
 * program uses the compilers of its whole environment, so the whole environment is searched, even
 * if `search` has only a part of it. `here` means that the question is about this machine, whose
 * NVRTC outside the environment counts if the environment has none. Starts no program and loads no
 * library. The result is an arena (base/arena.h). */
void toolchains_check(const struct jw_found *search, const struct plan *plan, bool here,
					  const struct jw_cancel *cancel, struct jw_check_result *result);
