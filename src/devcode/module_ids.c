#include "devcode/module_ids.h"

#include <string.h>

#include "base/hash.h"
#include "base/set.h"

/* Before an object's id in the list of the code that registers a linked container. */
static const char listed[] = "def ";

enum { LISTED = sizeof listed - 1 };

/* The section is walked twice: each object names itself once, and may do so behind the list that
 * names it. */
struct module_ids {
	struct set objects; /* by the hash of their ids */
	size_t lists, named, object_count;
	bool in_list, known;
	uint32_t *links;
};

static int take_own_id(struct jw_error *err, struct module_ids *ids, uint64_t hash)
{
	if (set_has(&ids->objects, hash) || ids->named == ids->object_count) {
		ids->known = false;
		return 0;
	}
	return set_add(err, &ids->objects, hash, ids->named++);
}

static void take_listed_id(struct module_ids *ids, uint64_t hash, uint32_t list)
{
	size_t cursor = 0, object = set_find(&ids->objects, hash, &cursor);

	if (object == SET_NONE || ids->links[object] != MODULE_IDS_NONE)
		ids->known = false;
	else
		ids->links[object] = list;
}

/* One walk over the ids, each of which ends in a NUL; `second`: over the lists alone. */
static int walk_ids(struct jw_error *err, struct module_ids *ids, const uint8_t *bytes, size_t size,
					bool second)
{
	const uint8_t *end = bytes + size, *stop;

	ids->lists = 0;
	ids->in_list = false;
	for (const uint8_t *at = bytes; ids->known && at < end; at = stop + 1) {
		const bool in_list = end - at > LISTED && !memcmp(at, listed, LISTED);
		uint64_t hash;

		stop = memchr(at, 0, (size_t)(end - at));
		if (!stop)
			stop = end;
		if (stop == at)
			continue;
		at += in_list ? LISTED : 0;
		hash = fnv_update(FNV_START, at, (size_t)(stop - at));
		ids->lists += in_list && !ids->in_list;
		ids->in_list = in_list;
		if (in_list && second)
			take_listed_id(ids, hash, (uint32_t)(ids->lists - 1));
		else if (!in_list && !second && take_own_id(err, ids, hash))
			return -1;
	}
	return 0;
}

int module_ids_read(struct jw_error *err, const uint8_t *bytes, size_t size, size_t objects,
					size_t linked, uint32_t *links, bool *ret_known)
{
	struct module_ids ids = {.known = true, .links = links, .object_count = objects};
	int failed;

	for (size_t i = 0; i < objects; i++)
		links[i] = MODULE_IDS_NONE;
	failed = walk_ids(err, &ids, bytes, size, false);
	ids.known = ids.known && ids.named == objects && ids.lists == linked;
	if (!failed && ids.known)
		failed = walk_ids(err, &ids, bytes, size, true);
	set_free(&ids.objects);
	*ret_known = ids.known;
	return failed;
}
