#include "machine/wanted_targets.h"

size_t wanted_targets(const struct jw_system *system, const struct jw_target *named,
					  size_t named_count, struct jw_target *ret_targets, size_t most)
{
	size_t count = 0;

	if (!named_count)
		return jw_system_targets(system, ret_targets, most);
	for (size_t i = 0; i < named_count; i++)
		count = jw_target_add(ret_targets, count, most, named[i]);
	return count;
}
