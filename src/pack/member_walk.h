/* Once through a pack's members, each entry handed over as soon as its module and its cubin are
 * both at hand; members are kept until the last entry that needs them, and no longer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "pack/reader.h"
#include "pack/supply.h"

struct member_walk {
	const struct pack_manifest *manifest;
	bool verify;                 /* hash every member and hold it against its name */
	bool keep;                   /* members stay at hand for member_walk_again */
	const struct supply *supply; /* thin members; what it lacks is passed over. NULL: it has none */
	void *context;
	struct jw_cancel cancel;
	/* `entries`: indices of those that are complete by now, some members' together. */
	int (*complete)(struct jw_error *err, void *context, const struct member_walk *walk,
					const uint32_t *entries, size_t count);
	uint8_t **bytes; /* of each member, while it is at hand; NULL: a thin one that is nowhere */
	uint8_t *whole;  /* where all that are in the pack are kept, one behind the other */
};

/* From a reader that has just been opened to the end of the pack. The caller frees what is kept
 * with member_walk_free. */
int member_walk_pack(struct jw_error *err, struct member_walk *walk, struct reader *reader,
					 const char *name);
/* Once more through the members that were kept, their entries handed over all together. */
int member_walk_again(struct jw_error *err, struct member_walk *walk);
void member_walk_free(struct member_walk *walk);
