#include "pack/driver_text.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/cache.h>
#include <jitwarm/system.h>

#include "base/text.h"

const char *pack_driver_text(char text[PACK_DRIVER_TEXT], const struct pack_driver *driver)
{
	if (driver->release[0] && driver->cuda)
		(void)snprintf(text, PACK_DRIVER_TEXT, "%s (CUDA %u.%u)", driver->release,
					   driver->cuda / 1000, driver->cuda % 1000 / 10);
	else if (driver->release[0])
		(void)snprintf(text, PACK_DRIVER_TEXT, "%s", driver->release);
	else
		(void)snprintf(text, PACK_DRIVER_TEXT, "built %.11s %.8s", driver->stamp,
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

enum { MOST_SM = 1000 };

static size_t at_most(size_t value, size_t most)
{
	return value < most ? value : most;
}

const char *pack_targets_text(char text[PACK_TARGETS_TEXT], const struct pack_manifest *manifest)
{
	bool there[MOST_SM + 1] = {false}; /* the last: larger ones, which are not shown */

	text[0] = '\0';
	for (size_t i = 0; i < manifest->entry_count; i++)
		there[at_most(manifest->entries[i].target.sm, MOST_SM)] = true;
	for (size_t i = 0; i < manifest->target_count; i++)
		there[at_most(manifest->targets[i].sm, MOST_SM)] = true;
	for (unsigned sm = 0; sm < MOST_SM; sm++) {
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
