/* Groups of a pack's entries in the result. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "pack/driver_text.h"
#include "pack/import.h"

enum { MOST_GROUPS = 256 };

/* Hostile packs may have any number of kinds: beyond MOST_GROUPS, each verdict has one group. */
static int find_group(struct jw_error *err, struct import *import,
					  const struct jw_import_group *like, uint32_t *ret_at)
{
	struct jw_import_result *result = import->result;
	struct jw_import_group rest = {.verdict = like->verdict};
	size_t at = 0;

	while (at < result->group_count) {
		const struct jw_import_group *group = &result->groups[at];

		if (group->verdict == like->verdict && group->carried == like->carried &&
			group->split == like->split && !strcmp(group->target, like->target) &&
			!strcmp(group->driver, like->driver) && !strcmp(group->why, like->why))
			break;
		at++;
	}
	if (at == result->group_count && at >= MOST_GROUPS && like->target[0])
		return find_group(err, import, &rest, ret_at);
	if (at == result->group_count) {
		if (VEC_ROOM(err, result->groups, import->group_capacity, at, MOST_GROUPS + 4))
			return -1;
		result->groups[result->group_count++] = *like;
	}
	*ret_at = (uint32_t)at;
	return 0;
}

int import_put_into_group(struct jw_error *err, struct import *import, uint32_t at, const char *why)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	struct import_fate *fate = &import->fates[at];
	struct jw_import_group group = {
		.verdict = fate->verdict, .carried = fate->carried, .split = entry->split};

	(void)jw_target_sm(group.target, entry->target);
	(void)pack_driver_text(group.driver, &import->manifest.drivers[entry->driver]);
	text_copy(group.why, sizeof group.why, why);
	if (find_group(err, import, &group, &fate->group))
		return -1;
	import->result->groups[fate->group].entries++;
	return 0;
}
