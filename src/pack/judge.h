/* Whether a pack's entries would be found, and loaded, by the driver of a machine. */
#ifndef JW_PACK_JUDGE_H
#define JW_PACK_JUDGE_H

#include <stdbool.h>

#include <jitwarm/pack.h>

#include "devcode/cubin.h"
#include "pack/manifest.h"

struct judgement {
	bool refused;
	bool carried; /* goes under the machine's stamp */
	char why[512];
};

/* By what the manifest says. `system` NULL: all go as they stand. */
void judge_entry(const struct pack_manifest *manifest, const struct pack_entry *entry,
				 const struct jw_system *system, bool carry_over, struct judgement *ret_judgement);
/* By the cubin itself; false and `why` where the machine's driver cannot load it: it would not heal
 * that, but fail the application (docs/driver-cache.md, "Values"). */
bool judge_cubin(const struct cubin_header *cubin, const struct jw_system *system, char why[512]);

#endif
