/* A driver that none of this machine's GPUs works with shows no GPU, and does not say why. */
#pragma once

#include <stdbool.h>

#include <jitwarm/error.h>
#include <jitwarm/target.h>

/* Whether all GPUs that the system lists are known, and too new or too old for that driver; `why`
 * says which driver it takes for one of them. */
bool unfit_driver(struct jw_error *why, const struct jw_driver *driver);
