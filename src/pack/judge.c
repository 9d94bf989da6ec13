#include "pack/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cache/loads.h"
#include "os/platform.h"
#include "pack/driver_text.h"

enum { WHY = 512 };

/* Adds a mismatching field: "architecture sm_70 (this machine has sm_86)". */
static void JW_PRINTF(2, 3) mismatch(struct judgement *judgement, const char *format, ...)
{
	size_t length = strlen(judgement->why);
	va_list list;

	if (length && length + 2 < WHY) {
		memcpy(judgement->why + length, "; ", 3);
		length += 2;
	}
	va_start(list, format);
	(void)vsnprintf(judgement->why + length, WHY - length, format, list);
	va_end(list);
	judgement->refused = true;
}

bool judge_has_gpu(const struct jw_system *system, struct jw_target target)
{
	bool has = !system->gpu_count;

	for (size_t i = 0; !has && i < system->gpu_count; i++)
		has = system->gpus[i].target.sm == target.sm;
	return has;
}

/* The entry's GPU, or those of which one must be here. */
static void judge_pack_targets(const struct jw_system *system, const struct jw_target *targets,
							   size_t count, struct judgement *judgement)
{
	char theirs[JW_TARGET_TEXT], ours[JW_TARGET_TEXT];
	bool common = !count;

	for (size_t i = 0; !common && i < count; i++)
		common = judge_has_gpu(system, targets[i]);
	if (!common)
		mismatch(judgement, "architecture %s (this machine has %s%s)",
				 jw_target_sm(theirs, targets[0]), jw_target_sm(ours, system->gpus[0].target),
				 system->gpu_count > 1 ? " and others" : "");
}

/* The same stamp is the same driver. The same CUDA minor version compiles to the same bytes
 * (docs/compiler-twin.md). Newer drivers load cubins of older compilers, but not the reverse. */
static void judge_driver(const struct pack_driver *theirs, const struct jw_system *system,
						 bool carry_over, struct judgement *judgement)
{
	char text[2][PACK_DRIVER_TEXT];
	struct pack_driver ours;

	if (!strcmp(theirs->stamp, system->driver.stamp))
		return;
	pack_driver_of_stamp(&ours, system->driver.stamp, system);
	judgement->carried = theirs->cuda && ours.cuda && theirs->cuda <= ours.cuda &&
						 (carry_over || theirs->cuda / 10 == ours.cuda / 10);
	judgement->older = judgement->carried && theirs->cuda / 10 != ours.cuda / 10;
	if (judgement->carried)
		return;
	mismatch(judgement, "driver stamp “%.11s %.8s” (this machine's is “%.11s %.8s”)", theirs->stamp,
			 theirs->stamp + 11, ours.stamp, ours.stamp + 11);
	if (!theirs->cuda || !ours.cuda)
		mismatch(judgement, "driver version %s", "not known, so that it cannot be carried over");
	else
		mismatch(judgement, "driver version %s (this machine's is %s)%s",
				 pack_driver_text(text[0], theirs), pack_driver_text(text[1], &ours),
				 theirs->cuda > ours.cuda ? ": an older driver cannot load a newer one's cubins"
										  : ": older, --carry-over takes it");
}

static bool is_opaque_pack(const struct jw_system *system, struct judgement *judgement)
{
	if (system->driver.trust != JW_TRUST_OPAQUE)
		return false;
	mismatch(judgement, "key form: this machine's driver names its entries in a way that is "
						"not known");
	return true;
}

void judge_made(const struct pack_driver *driver, struct jw_target target,
				const struct jw_system *system, bool carry_over, struct judgement *judgement)
{
	*judgement = (struct judgement){0};
	judge_pack_targets(system, &target, 1, judgement);
	if (!is_opaque_pack(system, judgement))
		judge_driver(driver, system, carry_over, judgement);
}

void judge_entry(const struct pack_manifest *manifest, const struct pack_entry *entry,
				 const struct jw_system *system, bool carry_over, struct judgement *ret_judgement)
{
	*ret_judgement = (struct judgement){0};
	if (!system)
		return;
	if (strcmp(manifest->os, os_name) != 0)
		mismatch(ret_judgement, "OS %.15s (this is %s)", manifest->os, os_name);
	judge_pack_targets(system, &entry->target, 1, ret_judgement);
	if (!is_opaque_pack(system, ret_judgement) && !pack_entry_is_jitlink(entry))
		judge_driver(&manifest->drivers[entry->driver], system, carry_over, ret_judgement);
}

/* The oldest drivers' stamps are not known: their releases are compared. */
static void judge_same_driver(const struct pack_driver *theirs, const struct jw_system *system,
							  struct judgement *judgement)
{
	char text[2][PACK_DRIVER_TEXT];
	struct pack_driver ours;
	bool stamps, releases;

	pack_driver_of_stamp(&ours, system->driver.stamp, system);
	stamps = theirs->stamp[0] && ours.stamp[0];
	releases = theirs->release[0] && ours.release[0];
	if (stamps && strcmp(theirs->stamp, ours.stamp) != 0)
		mismatch(judgement, "driver stamp “%.11s %.8s” (this machine's is “%.11s %.8s”)",
				 theirs->stamp, theirs->stamp + 11, ours.stamp, ours.stamp + 11);
	if ((!stamps && !releases) || (releases && strcmp(theirs->release, ours.release) != 0) ||
		(theirs->cuda && ours.cuda && theirs->cuda != ours.cuda))
		mismatch(judgement, "driver version %s (this machine's is %s)",
				 pack_driver_text(text[0], theirs),
				 ours.release[0] || ours.stamp[0] ? pack_driver_text(text[1], &ours) : "not known");
}

void judge_opaque(const struct pack_manifest *manifest, const struct jw_system *system,
				  struct judgement *ret_judgement)
{
	*ret_judgement = (struct judgement){0};
	if (!system || !system->driver.library[0]) {
		mismatch(ret_judgement, "it is for the driver itself, and no driver is here");
		return;
	}
	if (strcmp(manifest->os, os_name) != 0)
		mismatch(ret_judgement, "OS %.15s (this is %s)", manifest->os, os_name);
	judge_pack_targets(system, manifest->targets, manifest->target_count, ret_judgement);
	judge_same_driver(&manifest->drivers[0], system, ret_judgement);
}

bool judge_cubin(const struct cubin_header *cubin, const struct jw_system *system, char why[512])
{
	char text[JW_DRIVER_TEXT];

	if (!system || cache_abi_loads(cubin->abi, system->driver.version.cuda))
		return true;
	(void)snprintf(why, WHY, "cubin ABI 8 (this machine's driver, %s, knows 7)",
				   jw_driver_text(text, &system->driver.version));
	return false;
}
