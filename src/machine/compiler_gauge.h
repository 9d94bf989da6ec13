/* The gauge for ptxas: priming for another machine compiles here (docs/estimates.md). */
#pragma once

#include <jitwarm/system.h>

#include "base/cancel.h"

/* Measures this ptxas, and remembers the result, unless the speed of its CUDA version is known. A
 * failure is not reported, and not tried again: the predictions are slightly worse. */
void compiler_gauge(const struct jw_system *system, const char *ptxas,
					const struct jw_cancel *cancel);
