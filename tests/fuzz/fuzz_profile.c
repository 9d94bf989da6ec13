/* Any stored profile, and any library's bytes, gives a valid profile of a driver or none. */
#include "fuzz.h"

#include <string.h>

#include "cache/profile.h"
#include "cache/stamp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cache_profile profile;
	char stamp[CACHE_STAMP_SIZE + 1], id[STAMP_BUILD_ID_SIZE];

	if (!cache_profile_parse(NULL, (const char *)data, size, &profile))
		MUST(!profile.stamp[0] || jw_stamp_is(profile.stamp));
	if (!stamp_find(NULL, &(struct os_map){.data = data, .size = size}, stamp))
		MUST(jw_stamp_is(stamp));
	MUST(strlen(stamp_build_id(data, size, id)) % 2 == 0);
	return 0;
}
