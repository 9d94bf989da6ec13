/* What links where no driver does: NVIDIA's nvJitLink, in a worker. */
#pragma once

#include <jitwarm/system.h>

#include "base/cancel.h"
#include "machine/driver_query.h"

enum { LINKER_MOST = 64 };

struct linker_library {
	char *path;
	uint32_t cuda; /* 1000 * major + 10 * minor */
};

/* Those at hand; {0} with the name that the user gave, or NULL, is valid. */
struct linker {
	const char *named;
	bool looked;
	struct linker_library items[LINKER_MOST]; /* the oldest first */
	size_t count;
	struct jw_error why; /* why the first one that cannot be used is not */
};

/* Looks for them once: the named one alone; else those of the environment, of toolkits, and fetched
 * ones. Asks each for its version. -1: the named one cannot be used, JW_ERR_INTERRUPTED, out of
 * memory. */
int linker_look(struct jw_error *err, struct linker *linker, const struct jw_system *system,
				const struct jw_cancel *cancel);
void linker_free(struct linker *linker);

/* Has one of them link what `ask` names, in `folder`. The answer's failures are the linker's. */
int linker_ask(struct jw_error *err, const char *library, struct jw_target target,
			   const char *folder, struct driver_query ask, struct protocol_answer *ret_answer);
