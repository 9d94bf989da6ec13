/* Whether entries of a pack, or of another driver, would be found and loaded by the driver of a
 * machine. */
#pragma once

#include <stdbool.h>

#include <jitwarm/pack.h>

#include "devcode/cubin.h"
#include "pack/manifest.h"

struct judgement {
	bool refused;
	bool carried; /* goes under the machine's stamp */
	bool older;   /* of the carried: an older compiler's, so not the machine's driver's own bytes */
	char why[512];
};

/* By what the manifest says. `system` NULL: all go as they stand. */
void judge_entry(const struct pack_manifest *manifest, const struct pack_entry *entry,
				 const struct jw_system *system, bool carry_over, struct judgement *ret_judgement);
/* The same of one entry, wherever it is: what made it, for which GPU. Of `driver` the stamp,
 * release and CUDA version count (pack_driver_of_stamp). */
void judge_made(const struct pack_driver *driver, struct jw_target target,
				const struct jw_system *system, bool carry_over, struct judgement *judgement);
/* The whole of an opaque pack: it is for one driver, on one system, and GPUs of this machine must
 * be among those that it was made with, where both are known. `system` NULL: refused. */
void judge_opaque(const struct pack_manifest *manifest, const struct jw_system *system,
				  struct judgement *ret_judgement);
/* By the cubin itself; false and `why` where the machine's driver cannot load it: it would not heal
 * that, but fail the application (docs/driver-cache.md, "Values"). */
bool judge_cubin(const struct cubin_header *cubin, const struct jw_system *system, char why[512]);
