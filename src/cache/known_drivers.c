/* Drivers whose stamp is known. Rows that were not seen in a key were read off the library, as
 * stamp_find does. All of Linux. */
#include <stddef.h>
#include <string.h>

#include <jitwarm/cache.h>

#include "cache/profile.h"

/* 418.39 and 580.126.09 were read off caches in which OpenCL's keys, which name the release, stand
 * beside keys of one stamp only; a key of 550.54.15 was found in a cache of 2024. */
static const struct cache_known_driver known[] = {
	{{418, 39, 0}, "418.39", "Feb  9 201919:17:30", true},
	{{460, 106, 0}, "460.106", "Sep 28 202112:04:02", false},
	{{470, 256, 2}, "470.256.02", "May  2 202414:54:23", false},
	{{525, 147, 5}, "525.147.05", "Oct 25 202320:24:19", false},
	{{535, 216, 3}, "535.216.03", "Oct 25 202422:46:11", true},
	{{535, 261, 3}, "535.261.03", "Jun 14 202515:40:49", true},
	{{535, 274, 2}, "535.274.02", "Sep  4 202522:14:46", false},
	{{535, 309, 1}, "535.309.01", "Mar 25 202615:25:13", true},
	{{550, 54, 15}, "550.54.15", "Mar  5 202422:02:27", true},
	{{550, 163, 1}, "550.163.01", "Apr  8 202512:10:18", true},
	{{555, 58, 2}, "555.58.02", "Jun 25 202401:14:48", true},
	{{580, 126, 9}, "580.126.09", "Jan  7 202622:51:46", true},
};

const struct cache_known_driver *cache_known_driver_at(size_t index)
{
	return index < sizeof known / sizeof *known ? &known[index] : NULL;
}

const struct cache_known_driver *cache_known_driver(const uint32_t release[3])
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].release[0] == release[0] && known[i].release[1] == release[1] &&
			known[i].release[2] == release[2])
			return &known[i];
	return NULL;
}

const char *jw_cache_driver_of_stamp(const char *stamp)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].stamp, stamp))
			return known[i].name;
	return NULL;
}
