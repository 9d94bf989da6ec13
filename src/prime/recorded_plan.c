#include "prime/recorded_plan.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/entry.h"
#include "plan/analyse.h"

static size_t targets_of_recording(const struct jw_recording *recording, struct jw_target *targets)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_target target = {.sm = recording->modules[i].target.sm};

		if (recording->modules[i].file != JW_RECORDED_NO_FILE)
			count = jw_target_add(targets, count, ANALYSE_MOST_TARGETS, target);
	}
	return count;
}

/* Plans the same files for the recorded machine. */
static int plan_there(struct jw_error *err, const struct jw_recording *recording,
					  const struct plan_request *request, struct plan **ret_plan)
{
	struct jw_target targets[ANALYSE_MOST_TARGETS];
	struct cache_profile profile = {.trust = CACHE_STAMP_CONFIRMED, .driver = recording->driver};
	struct plan_request there = *request;

	TEXT_COPY(profile.stamp, recording->stamp);
	there.targets = targets;
	there.target_count = targets_of_recording(recording, targets);
	there.profile = &profile;
	there.cache_dir = NULL;
	return plan_build(err, &there, ret_plan);
}

struct recorded_place {
	const struct plan_file *file;
	uint64_t offset;
	bool used; /* has something to compile on these GPUs */
};

struct recorded_places {
	struct recorded_place *items;
	size_t count;
	struct set by_hash;
};

static uint64_t hash_at_offset(const struct plan_file *file, uint64_t offset)
{
	uint64_t state = fnv_update(FNV_START, file->path, strlen(file->path) + 1);

	if (file->member)
		state = fnv_update(state, file->member, strlen(file->member));
	return fnv_update(state, &offset, sizeof offset);
}

static struct recorded_place *find_place(const struct recorded_places *places,
										 const struct plan_file *file, uint64_t offset)
{
	size_t cursor = 0, at;

	while ((at = set_find(&places->by_hash, hash_at_offset(file, offset), &cursor)) != SET_NONE) {
		struct recorded_place *place = &places->items[at];

		if (place->offset == offset && !strcmp(place->file->path, file->path) &&
			text_same(place->file->member, file->member))
			return place;
	}
	return NULL;
}

static void add_place(struct recorded_places *places, const struct plan_file *file, uint64_t offset)
{
	if (find_place(places, file, offset))
		return;
	set_add(&places->by_hash, hash_at_offset(file, offset), places->count);
	places->items[places->count++] = (struct recorded_place){.file = file, .offset = offset};
}

static const struct plan_module *find_recorded_key(const struct plan *plan, const struct set *names,
												   const struct jw_recorded_module *module)
{
	size_t cursor = 0, at;

	while ((at = set_find(names, module->key, &cursor)) != SET_NONE)
		if (plan->modules[at].key_bytes == module->key_bytes)
			return &plan->modules[at];
	return NULL;
}

/* What is in no file has its name from the recorded driver alone. */
static bool is_in_cache(const struct jw_recording *recording, const struct plan_request *request,
						const struct jw_recorded_module *module)
{
	return request->cache_dir && !strcmp(recording->stamp, request->profile->stamp) &&
		   cache_presence(request->cache_dir, module->key, module->key_bytes, NULL) ==
			   CACHE_PRESENT;
}

static int find_places(const struct jw_recording *recording, const struct plan_request *request,
					   const struct plan *there, struct recorded_places *places,
					   struct recorded_account *account)
{
	struct set names = {0};

	for (size_t i = 0; i < there->module_count; i++)
		set_add(&names, there->modules[i].key, i);
	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];
		const struct plan_module *found;

		if (module->file == JW_RECORDED_NO_FILE) {
			account->unfiled++;
			account->unfiled_cold += !is_in_cache(recording, request, module);
			continue;
		}
		account->wanted++;
		found = find_recorded_key(there, &names, module);
		if (!found) {
			account->missing++;
			account->missing_by_file[module->file]++;
		} else
			add_place(places, &there->files[found->file], found->container_offset);
	}
	set_free(&names);
	return 0;
}

static void keep_places(struct plan *plan, const struct recorded_places *places,
						struct recorded_account *account)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->module_count; i++) {
		struct plan_module *module = &plan->modules[i];
		struct recorded_place *place =
			find_place(places, &plan->files[module->file], module->container_offset);

		if (!place)
			continue;
		place->used = true;
		plan->modules[kept++] = *module;
	}
	plan->module_count = kept;
	/* Unusable images were counted over all containers of these files. */
	for (size_t t = 0; t < plan->target_count; t++)
		plan->targets[t].cannot = plan->targets[t].link_containers = 0;
	for (size_t i = 0; i < places->count; i++)
		account->idle += !places->items[i].used;
}

int recorded_narrow(struct jw_error *err, const struct jw_recording *recording,
					const struct plan_request *request, struct plan *plan,
					struct recorded_account *ret_account)
{
	struct recorded_account account = {0};
	struct recorded_places places = {0};
	struct plan *there = NULL;
	int result = -1;

	account.missing_by_file = mem_array(recording->file_count, sizeof *account.missing_by_file);
	places.items = mem_array(recording->module_count, sizeof *places.items);
	if (!account.missing_by_file || !places.items || plan_there(err, recording, request, &there) ||
		find_places(recording, request, there, &places, &account))
		goto done;
	keep_places(plan, &places, &account);
	*ret_account = account;
	account.missing_by_file = NULL;
	result = 0;
done:
	mem_free(account.missing_by_file);
	mem_free(places.items);
	set_free(&places.by_hash);
	plan_free(there);
	return result;
}
