/* The command that starts a worker, and what a system's driver profile is. */
#ifndef JW_PRIME_SELF_H
#define JW_PRIME_SELF_H

#include <stdbool.h>

#include <jitwarm/system.h>

#include "cache/profile.h"

struct self_command {
	const char *const *command; /* NULL at its end */
	char *path;                 /* our own program, where that is the worker */
	const char *own[3];
};

/* `given` where it is not NULL, else this program with the argument "worker". self_free afterwards;
 * `ret_command` must stay where it is until then. */
int self_command(struct jw_error *err, const char *const *given, struct self_command *ret_command);
void self_free(struct self_command *command);

struct cache_profile profile_of_system(const struct jw_system *system);
/* Whether entries' names can be predicted. */
bool profile_is_known(const struct jw_system *system);

#endif
