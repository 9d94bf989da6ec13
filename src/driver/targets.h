/* The GPU architectures that a call is about, and those that a driver does not support. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/error.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>

/* Returns whether all GPUs that the system lists are known, and too new or too old for that driver;
 * `why` names the drivers that one of them needs. */
bool targets_unfit_driver(struct jw_error *why, const struct jw_driver *driver);

/* Fills in the named targets, or else those of this machine's GPUs: each once, at most `most`.
 * Returns their number. */
size_t targets_wanted(const struct jw_system *system, const struct jw_target *named,
					  size_t named_count, struct jw_target *ret_targets, size_t most);
