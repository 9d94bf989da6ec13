/* Drivers whose stamp is known. The rows are made by CMake from data/driver-stamps.csv. */
#include <stddef.h>
#include <string.h>

#include <jitwarm/cache.h>

#include "cache/profile.h"
#include "gpu/release.h"

static const struct cache_known_driver known[] = {
#include "known_drivers.inc"
};

const struct cache_known_driver *cache_known_driver_at(size_t index)
{
	return index < sizeof known / sizeof *known ? &known[index] : NULL;
}

const struct cache_known_driver *cache_known_driver(const uint32_t release[3])
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!gpu_release_compare(known[i].release, release))
			return &known[i];
	return NULL;
}

const struct cache_known_driver *cache_known_driver_like(const struct jw_driver *driver)
{
	const struct cache_known_driver *newest = NULL;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if ((driver->release[0] ? known[i].release[0] == driver->release[0]
								: known[i].cuda == driver->cuda) &&
			(!newest || gpu_release_compare(known[i].release, newest->release) > 0))
			newest = &known[i];
	return newest;
}

const char *jw_cache_driver_of_stamp(const char *stamp)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].stamp, stamp))
			return known[i].name;
	return NULL;
}
