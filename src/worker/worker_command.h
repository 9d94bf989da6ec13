/* The command that starts a worker, and what a system's driver profile is. */
#pragma once

#include <stdbool.h>

#include <jitwarm/system.h>

#include "cache/profile.h"

struct worker_command {
	const char *const *command; /* NULL at its end */
	char *path;                 /* our own program, where that is the worker */
	const char *own[3];
};

/* `given` where it is not NULL, else this program with the argument "worker". worker_command_free
 * afterwards; `ret_command` must stay where it is until then. */
int worker_command_find(struct jw_error *err, const char *const *given,
						struct worker_command *ret_command);
void worker_command_free(struct worker_command *command);

struct cache_profile profile_of_system(const struct jw_system *system);
/* Whether entries' names can be predicted. */
bool profile_is_known(const struct jw_system *system);
