#include "pack/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/cache.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "cache/sound.h"
#include "os/platform.h"

enum { WHY = 512 };

/* Adds a mismatching field: "architecture sm_70 (this machine has sm_86)". */
static void JW_PRINTF(2, 3) mismatch(struct judgement *judgement, const char *format, ...)
{
	va_list list;

	if (judgement->why[0])
		text_append(judgement->why, WHY, "; ");
	va_start(list, format);
	(void)text_vformat(judgement->why, strlen(judgement->why), WHY, format, list);
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

static void judge_pack_target(const struct jw_system *system, struct jw_target target,
							  struct judgement *judgement)
{
	char theirs[JW_TARGET_TEXT], ours[JW_TARGET_TEXT];

	if (!judge_has_gpu(system, target))
		mismatch(judgement, "architecture %s (this machine has %s%s)", jw_target_sm(theirs, target),
				 jw_target_sm(ours, system->gpus[0].target),
				 system->gpu_count > 1 ? " and others" : "");
}

/* Judges the driver: the same stamp is the same driver, and the same CUDA minor version compiles to
 * the same bytes (docs/internals/driver-cache.md). */
static void judge_driver(const struct pack_driver *theirs, const struct jw_system *system,
						 struct judgement *judgement)
{
	char text[PACK_DRIVER_TEXT];
	struct pack_driver ours;

	if (!strcmp(theirs->stamp, system->driver.stamp))
		return;
	pack_driver_of_stamp(&ours, system->driver.stamp, system);
	judgement->carried = theirs->cuda && theirs->cuda / 10 == ours.cuda / 10;
	if (judgement->carried)
		return;
	if (!theirs->cuda)
		mismatch(judgement, "that driver's version is not known (built %.11s %.8s)", theirs->stamp,
				 theirs->stamp + 11);
	else if (!ours.cuda)
		mismatch(judgement, "the version of this machine's driver is not known (built %.11s %.8s)",
				 ours.stamp, ours.stamp + 11);
	else
		mismatch(judgement, "that driver has another CUDA version than this machine's, %s",
				 pack_driver_text(text, &ours));
}

static bool is_unknown_form(const struct jw_system *system, struct judgement *judgement)
{
	if (system->driver.trust != JW_TRUST_OPAQUE)
		return false;
	mismatch(judgement, "key form: this machine's driver names its entries in a way that is "
						"not known");
	return true;
}

void judge_made(const struct pack_driver *driver, struct jw_target target,
				const struct jw_system *system, struct judgement *judgement)
{
	*judgement = (struct judgement){0};
	judge_pack_target(system, target, judgement);
	if (!is_unknown_form(system, judgement))
		judge_driver(driver, system, judgement);
}

void judge_entry(const struct pack_manifest *manifest, const struct pack_entry *entry,
				 const struct jw_system *system, struct judgement *ret_judgement)
{
	*ret_judgement = (struct judgement){0};
	if (!system)
		return;
	if (strcmp(manifest->os, os_name) != 0)
		mismatch(ret_judgement, "OS %.15s (this is %s)", manifest->os, os_name);
	judge_pack_target(system, entry->target, ret_judgement);
	if (!is_unknown_form(system, ret_judgement) && !pack_entry_is_jitlink(entry))
		judge_driver(&manifest->drivers[entry->driver], system, ret_judgement);
}

bool judge_cubin(const struct cubin_header *cubin, const struct jw_system *system, char why[512])
{
	char text[JW_DRIVER_TEXT];

	if (!system || cache_abi_loads(cubin->abi, system->driver.version.cuda))
		return true;
	(void)text_format(why, WHY, "cubin ABI 8 (this machine's driver, %s, knows 7)",
					  jw_driver_text(text, &system->driver.version));
	return false;
}

const char *pack_driver_text(char text[PACK_DRIVER_TEXT], const struct pack_driver *driver)
{
	if (driver->release[0] && driver->cuda)
		(void)snprintf(text, PACK_DRIVER_TEXT, "%s (CUDA %u.%u)", driver->release,
					   driver->cuda / 1000, driver->cuda % 1000 / 10);
	else if (driver->release[0])
		(void)snprintf(text, PACK_DRIVER_TEXT, "%s", driver->release);
	else
		(void)text_format(text, PACK_DRIVER_TEXT, "built %.11s %.8s", driver->stamp,
						  driver->stamp + 11);
	return text;
}

static void name_release(struct pack_driver *driver, const uint32_t release[3])
{
	if (release[2])
		(void)snprintf(driver->release, sizeof driver->release, "%u.%u.%02u", release[0],
					   release[1], release[2]);
	else
		(void)snprintf(driver->release, sizeof driver->release, "%u.%02u", release[0], release[1]);
}

void pack_driver_of_stamp(struct pack_driver *driver, const char *stamp,
						  const struct jw_system *system)
{
	const char *known = jw_cache_driver_of_stamp(stamp);
	struct jw_driver version;
	struct cache_profile kept;

	*driver = (struct pack_driver){0};
	TEXT_COPY(driver->stamp, stamp);
	if (system && !strcmp(system->driver.stamp, stamp)) {
		driver->cuda = system->driver.version.cuda;
		if (system->driver.version.release[0])
			name_release(driver, system->driver.version.release);
	}
	if (known && !driver->release[0])
		TEXT_COPY(driver->release, known);
	if (known && !driver->cuda && !jw_driver_parse(NULL, known, &version))
		driver->cuda = version.cuda;
	if (!driver->cuda && system && system->state_dir &&
		!cache_profile_of_stamp(NULL, system->state_dir, stamp, &kept)) {
		driver->cuda = kept.driver.cuda;
		if (kept.driver.release[0] && !driver->release[0])
			name_release(driver, kept.driver.release);
	}
}

enum { MAX_SM = 1000 };

const char *pack_targets_text(char text[PACK_TARGETS_TEXT], const struct pack_manifest *manifest)
{
	bool there[MAX_SM + 1] = {
		false}; /* the last element stands for larger numbers, which are not shown */

	text[0] = '\0';
	for (size_t i = 0; i < manifest->entry_count; i++) {
		const uint16_t sm = manifest->entries[i].target.sm;

		there[sm < MAX_SM ? sm : MAX_SM] = true;
	}
	for (unsigned sm = 0; sm < MAX_SM; sm++) {
		size_t length = strlen(text);

		if (there[sm])
			(void)snprintf(text + length, PACK_TARGETS_TEXT - length, "%ssm_%u", length ? " " : "",
						   sm);
	}
	return text;
}

const char *pack_drivers_text(char text[PACK_DRIVERS_TEXT], const struct pack_manifest *manifest)
{
	text[0] = '\0';
	for (size_t i = 0; i < manifest->driver_count; i++) {
		size_t length = strlen(text);
		char one[PACK_DRIVER_TEXT];

		(void)snprintf(text + length, PACK_DRIVERS_TEXT - length, "%s%s", length ? ", " : "",
					   pack_driver_text(one, &manifest->drivers[i]));
	}
	return text;
}
