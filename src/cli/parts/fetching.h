/* Shows how far the download of a compiler is. */
#pragma once

#include <jitwarm/compiler.h>

#include "cli/command.h"
#include "cli/progress.h"

struct fetching {
	const struct output *output;
	const char *label;
	uint64_t total_bytes;     /* of the wheel at hand */
	struct progress progress; /* `output` NULL: not started */
};

#define FETCH_OPTION                                                                               \
	CLI_FLAG("fetch", "With --target: get the compiler that is missing on the way, as “jitwarm " \
					  "compiler fetch” does")

/* `fetching` has output and label, and lives as long as the options. */
struct jw_compiler_fetch_options fetching_options(struct fetching *fetching);
void fetching_end(struct fetching *fetching);
