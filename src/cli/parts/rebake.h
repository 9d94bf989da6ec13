/* prime --rebake */
#pragma once

#include "cli/parts/prime_outcome.h"

/* Bakes again the libraries that were baked in their places, and that their packages have replaced
 * since; then looks at all of them. What cannot be baked again is told, and is no failure of this
 * call; the run is then not remembered, so that the next one tries again. */
int rebake_replaced(struct jw_error *err, struct prime_outcome *priming);
