/* The command that starts a worker, and what a system's driver profile is. */
#pragma once

#include <stdbool.h>

#include <jitwarm/system.h>

#include "cache/profile.h"

/* JW_ERR_USAGE where no command is named, and in a worker, which starts none: a program that
 * forgets either would start itself, and that one itself again. */
int worker_command_check(struct jw_error *err, const char *const *command);

struct cache_profile profile_of_system(const struct jw_system *system);
/* Whether entries' names can be predicted. */
bool profile_is_known(const struct jw_system *system);
