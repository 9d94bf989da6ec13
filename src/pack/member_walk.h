/* Reads a pack's members once, and passes on each entry as soon as its module and its cubin are
 * both in memory. A member is kept until the last entry that needs it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "pack/reader.h"

struct member_walk {
	const struct pack_manifest *manifest;
	bool verify; /* hash every member and compare it with its name */
	bool keep;   /* members stay in memory for member_walk_again */
	void *context;
	struct jw_cancel cancel;
	/* Called with the indices of entries that are now complete, for several members together. */
	int (*complete)(struct jw_error *err, void *context, const struct member_walk *walk,
					const uint32_t *entries, size_t count);
	uint8_t **bytes; /* the bytes of each member that is in memory */
	uint8_t *whole;  /* all members of the pack one after the other, if they are kept */
};

/* Reads from a newly opened reader to the end of the pack. The caller frees kept members with
 * member_walk_free. */
int member_walk_pack(struct jw_error *err, struct member_walk *walk, struct reader *reader,
					 const char *name);
/* Passes on the entries of kept members again, all at once. */
int member_walk_again(struct jw_error *err, struct member_walk *walk);
void member_walk_free(struct member_walk *walk);
