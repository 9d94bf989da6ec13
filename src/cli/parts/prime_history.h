/* What `prime` keeps of its runs in the state directory, for `report`: a log of those that put
 * something into the driver's cache, and the timeline of the last one that compiled. A failure to
 * keep either is ignored. */
#pragma once

#include <jitwarm/prime.h>

#include "cli/command.h"

/* Modules that the run has put into the cache without compiling them. */
size_t prime_history_restored(const struct jw_prime_result *result);
/* At the end of a run: keeps its timeline. Whether the run belongs into the history. */
bool prime_history_keep(const struct cli *cli, const struct jw_prime_result *result);
/* Appends the line of such a run's log (jitwarm.run/1) to the history. */
void prime_history_add(const struct cli *cli, const char *line);

/* The newest of `most` lines of the log, the newest last. The caller frees them with jw_lines_free.
 * None: *ret_count is 0. */
void prime_history_read(const char *state_dir, size_t most, char ***ret_lines, size_t *ret_count);
/* The timeline (jitwarm.timeline/1); NULL: there is none. The caller deletes it. It is what
 * somebody may have written there. */
cJSON *prime_history_timeline(const char *state_dir);
