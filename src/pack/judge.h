/* Whether a machine's driver would find and load entries of a pack or of another driver. */
#pragma once

#include <stdbool.h>

#include <jitwarm/pack.h>

#include "devcode/cubin.h"
#include "pack/manifest.h"

struct judgement {
	bool refused;
	bool carried; /* inserted under the machine's stamp */
	bool older;   /* carried and compiled by an older compiler, so not the bytes that the machine's
					 driver would write */
	char why[512];
};

/* Judges by the manifest. `system` NULL: all entries are accepted unchanged. */
void judge_entry(const struct pack_manifest *manifest, const struct pack_entry *entry,
				 const struct jw_system *system, bool carry_over, struct judgement *ret_judgement);
/* Judges one entry by its maker and GPU. Only the stamp, release and CUDA version of `driver` count
 * (pack_driver_of_stamp). */
void judge_made(const struct pack_driver *driver, struct jw_target target,
				const struct jw_system *system, bool carry_over, struct judgement *judgement);
/* Judges a whole opaque pack: it must be for the same driver and system, and it must have been made
 * with GPUs of this machine, where both are known. `system` NULL: refused. */
void judge_opaque(const struct pack_manifest *manifest, const struct jw_system *system,
				  struct judgement *ret_judgement);
/* Whether one of the system's GPUs has this architecture; true where no GPU is known. */
bool judge_has_gpu(const struct jw_system *system, struct jw_target target);
/* Judges by the cubin; false and `why` if the machine's driver cannot load it: the driver would not
 * recompile it, but fail the application (docs/driver-cache.md, "Values"). */
bool judge_cubin(const struct cubin_header *cubin, const struct jw_system *system, char why[512]);
