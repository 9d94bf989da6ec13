/* Judges whether a machine's driver would find and load entries of a pack or of another driver. */
#pragma once

#include <stdbool.h>

#include <jitwarm/pack.h>

#include "code/cubin.h"
#include "pack/manifest.h"

struct judgement {
	bool refused;
	bool carried; /* made by another build of the machine's CUDA version, and inserted under the
					 machine's stamp */
	char why[512];
};

/* Judges an entry by the manifest. With a NULL `system` all entries are accepted unchanged. */
void judge_entry(const struct pack_manifest *manifest, const struct pack_entry *entry,
				 const struct jw_system *system, struct judgement *ret_judgement);
/* Judges one entry by its maker and GPU. Only the stamp, release and CUDA version of `driver` count
 * (pack_driver_of_stamp). */
void judge_made(const struct pack_driver *driver, struct jw_target target,
				const struct jw_system *system, struct judgement *judgement);
/* Returns whether one of the system's GPUs has this architecture; true if no GPU is known. */
bool judge_has_gpu(const struct jw_system *system, struct jw_target target);
/* Judges by the cubin; false and `why` if the machine's driver cannot load it: the driver would not
 * recompile it, but fail the application (docs/internals/driver-cache.md, "Values"). */
bool judge_cubin(const struct cubin_header *cubin, const struct jw_system *system, char why[512]);

/* The texts for drivers. */
enum { PACK_DRIVER_TEXT = 64 };
/* Writes "550.163.01 (CUDA 12.4)" or "built Feb 9 2019 19:17:30"; returns `text`. */
const char *pack_driver_text(char text[PACK_DRIVER_TEXT], const struct pack_driver *driver);

/* Finds the driver with this stamp, as far as known: from `system` (may be NULL), the table of
 * known drivers, or the former drivers that the system remembers. */
struct jw_system;
void pack_driver_of_stamp(struct pack_driver *driver, const char *stamp,
						  const struct jw_system *system);

/* Write "sm_70 sm_86", by number, and "418.39, built Feb 9 2019 19:17:30", in the manifest's order;
 * both are truncated if they are too long. A signature's comment contains them (formats.md), so the
 * form must not change. */
enum { PACK_TARGETS_TEXT = 256, PACK_DRIVERS_TEXT = 512 };
const char *pack_targets_text(char text[PACK_TARGETS_TEXT], const struct pack_manifest *manifest);
const char *pack_drivers_text(char text[PACK_DRIVERS_TEXT], const struct pack_manifest *manifest);
