/* The GPU architectures that a call is about. */
#pragma once

#include <jitwarm/system.h>

/* Those that are named, else those of this machine's GPUs: each once, at most `most`. Returns their
 * number. */
size_t wanted_targets(const struct jw_system *system, const struct jw_target *named,
					  size_t named_count, struct jw_target *ret_targets, size_t most);
