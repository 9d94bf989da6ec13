/* The command that starts a worker, and a system's driver profile. */
#pragma once

#include <stdbool.h>

#include <jitwarm/system.h>

#include "cache/profile.h"

/* JW_ERR_USAGE if no command is named, and in a worker, which must not start workers: otherwise a
 * program would start itself endlessly. */
int worker_command_check(struct jw_error *err, const char *const *command);

struct cache_profile profile_of_system(const struct jw_system *system);
/* Whether entries' names can be predicted. */
bool profile_is_known(const struct jw_system *system);
