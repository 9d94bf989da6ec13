#include "prime/recorded_plan.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/entry.h"
#include "prime/recording.h"

static int next_recorded_key(struct jw_error *err, void *context, struct buf *ret_key)
{
	struct recorded_keys *keys = context;
	const struct jw_recording *recording = keys->recording;

	while (keys->next < recording->module_count) {
		const size_t at = keys->next++;
		const struct jw_recorded_module *module = &recording->modules[at];
		struct jw_error why = {0};

		if (!module->has_text)
			continue;
		if (!recording_unpack_text(&why, &recording->texts[module->text], &keys->text) &&
			!recording_key(&why, recording, module, keys->text.data, keys->text.size, ret_key))
			return 1;
		return error_set(err, why.code, "%s: text %u: %s", recording->path ? recording->path : "",
						 module->text, why.message);
	}
	return 0;
}

void recorded_request(const struct jw_recording *recording, struct recorded_keys *keys,
					  struct plan_request *request)
{
	*keys = (struct recorded_keys){.recording = recording, .text = BUF_MAX(RECORDING_MAX_UNPACKED)};
	/* Recorded modules are wanted in whichever section they are. */
	request->everything = request->link_inputs = true;
	request->next_key = next_recorded_key;
	request->keys = keys;
	request->keys_name = recording->path ? recording->path : "";
	request->of_stamp = recording->stamp;
}

void recorded_keys_free(struct recorded_keys *keys)
{
	buf_free(&keys->text);
}

/* Plans the same files for the recorded machine. */
static int plan_there(struct jw_error *err, const struct jw_recording *recording,
					  const struct plan_request *request, struct plan **ret_plan)
{
	struct jw_target targets[PLAN_MAX_TARGETS];
	struct cache_profile profile = {.trust = JW_TRUST_CONFIRMED, .driver = recording->driver};
	struct plan_request there = *request;
	size_t count = 0;

	TEXT_COPY(profile.stamp, recording->stamp);
	there.targets = targets;
	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_target target = {.sm = recording->modules[i].target.sm};

		if (recording->modules[i].file != JW_RECORDED_NO_FILE)
			count = jw_target_add(targets, count, PLAN_MAX_TARGETS, target);
	}
	there.target_count = count;
	there.profile = &profile;
	there.cache_dir = NULL;
	there.next_key = NULL;
	there.of_stamp = there.containers = NULL;
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

/* Computes the identity of a recorded module (cache/key.h); false for a module that is not compiled
 * from PTX. */
static bool recorded_identity(const struct jw_recorded_module *module,
							  struct jw_identity *ret_identity)
{
	const size_t options = module->options ? strlen(module->options) : 0;
	const enum cache_key_form form =
		module->kind == JW_RECORDED_LINK ? CACHE_KEY_LINK : CACHE_KEY_LOAD;
	struct cache_profile profile = {.stamp = "Jan  1 200000:00:00"}; /* any: all are as long */
	char tail[CACHE_KEY_MAX_TAIL] = "";
	struct jw_identity payload;
	struct digest digest;
	size_t start;

	(void)cache_key_start(profile.stamp, module->target.sm, &start);
	if (!cache_identity_read(module->digest, &payload))
		return false;
	memcpy(digest.bytes, payload.bytes, sizeof digest.bytes);
	/* A key whose payload has no NUL has no rest. */
	cache_key_identity(ret_identity, &digest, tail,
					   module->key_bytes == start + module->payload_bytes
						   ? 0
						   : cache_key_tail(tail, form, module->options, options));
	return true;
}

static const struct plan_module *find_recorded_key(const struct plan *plan, const struct set *names,
												   const struct jw_recorded_module *module)
{
	struct jw_identity identity;
	const bool known = recorded_identity(module, &identity);
	size_t cursor = 0, at;

	/* A recording that lacks the digests of its modules has nothing but their names. */
	while ((at = set_find(names, module->key, &cursor)) != SET_NONE)
		if (known ? cache_identity_equal(&plan->modules[at].identity, &identity)
				  : plan->modules[at].key_bytes == module->key_bytes)
			return &plan->modules[at];
	return NULL;
}

/* Returns whether an entry is in the cache. A module that is in no file has its name from the
 * recorded driver alone. */
static bool is_in_cache(const struct jw_recording *recording, const struct plan_request *request,
						const struct jw_recorded_module *module)
{
	struct jw_identity identity;
	const bool known = recorded_identity(module, &identity);

	return request->cache_dir && !strcmp(recording->stamp, request->profile->stamp) &&
		   cache_presence(request->cache_dir, module->key, known ? &identity : NULL, NULL) ==
			   CACHE_PRESENT;
}

/* Notes which modules are missing, by file. */
static void note_missing(const struct jw_recording *recording, const size_t *missing,
						 size_t unfiled_cold, struct plan *plan)
{
	for (size_t i = 0; i < recording->file_count; i++) {
		const struct jw_recorded_file *file = &recording->files[i];

		if (missing[i])
			plan_note(plan, true, "%.800s%s%.100s%s%.100s%s: %s not in the files here", file->path,
					  file->package ? " (" : "", file->package ? file->package : "",
					  file->version ? " " : "", file->version ? file->version : "",
					  file->package ? ")" : "",
					  TEXT_COUNT(missing[i], "recorded module is", "recorded modules are"));
	}
	if (unfiled_cold)
		plan_note(plan, true,
				  unfiled_cold == 1
					  ? "%s in no file, and not in the cache: the program makes it while it runs"
					  : "%s in no file, and not in the cache: the program makes them while it runs",
				  TEXT_COUNT(unfiled_cold, "recorded module is", "recorded modules are"));
}

static void find_recorded_places(const struct jw_recording *recording,
								 const struct plan_request *request, const struct plan *there,
								 struct plan *plan, struct recorded_places *places,
								 struct recorded_account *account)
{
	size_t *missing = mem_array(recording->file_count, sizeof *missing), unfiled_cold = 0;
	struct set names = {0};

	for (size_t i = 0; i < there->module_count; i++)
		set_add(&names, there->modules[i].key, i);
	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];
		const struct plan_module *found;

		if (module->has_text) {
			account->texts++;
			continue;
		}
		if (module->file == JW_RECORDED_NO_FILE) {
			account->unfiled++;
			unfiled_cold += !is_in_cache(recording, request, module);
			continue;
		}
		account->wanted++;
		found = find_recorded_key(there, &names, module);
		if (!found) {
			account->missing++;
			missing[module->file]++;
		} else if (!find_place(places, &there->files[found->file], found->container_offset)) {
			const struct recorded_place place = {.file = &there->files[found->file],
												 .offset = found->container_offset};

			set_add(&places->by_hash, hash_at_offset(place.file, place.offset), places->count);
			places->items[places->count++] = place;
		}
	}
	note_missing(recording, missing, unfiled_cold, plan);
	set_free(&names);
	mem_free(missing);
}

/* Keeps the modules at recorded places, drops the others, and adds notes about recorded modules
 * that are of no use. */
static void keep_places(struct plan *plan, const struct recorded_places *places)
{
	size_t kept = 0, idle = plan->unfit;
	char driver[JW_DRIVER_TEXT];

	for (size_t i = 0; i < plan->module_count; i++) {
		struct plan_module *module = &plan->modules[i];
		struct recorded_place *place =
			find_place(places, &plan->files[module->file], module->container_offset);

		if (!place && !module->keyed)
			continue;
		if (place)
			place->used = true;
		plan->modules[kept++] = *module;
	}
	plan->module_count = kept;
	/* Unusable images were counted over all containers of these files. */
	for (size_t t = 0; t < plan->target_count; t++)
		plan->targets[t].unplanned.cannot = plan->targets[t].link_containers = 0;
	for (size_t i = 0; i < places->count; i++)
		idle += !places->items[i].used;
	if (plan->too_new)
		plan_note(plan, true, "%s too new for driver %s: record the command again with this driver",
				  TEXT_COUNT(plan->too_new, "recorded module is", "recorded modules are"),
				  jw_driver_text(driver, &plan->profile.driver));
	if (idle)
		plan_note(plan, false, "%s nothing to compile on these GPUs",
				  TEXT_COUNT(idle, "recorded module has", "recorded modules have"));
}

int recorded_narrow(struct jw_error *err, const struct jw_recording *recording,
					const struct plan_request *request, struct plan *plan,
					struct recorded_account *ret_account)
{
	struct recorded_account account = {.unread = plan->troubles};
	struct recorded_places places = {0};
	struct plan *there;

	if (plan_there(err, recording, request, &there))
		return -1;
	places.items = mem_array(recording->module_count, sizeof *places.items);
	find_recorded_places(recording, request, there, plan, &places, &account);
	keep_places(plan, &places);
	*ret_account = account;
	mem_free(places.items);
	set_free(&places.by_hash);
	plan_free(there);
	return 0;
}

enum jw_verdict recorded_verdict(const struct plan *plan, const struct recorded_account *account,
								 enum jw_verdict verdict)
{
	if (plan->images || account->unread)
		return verdict;
	if (plan->troubles)
		return JW_VERDICT_PARTLY;
	/* A program that had nothing compiled needs nothing. */
	if (!account->wanted && !account->unfiled && !account->texts && verdict == JW_VERDICT_NOTHING)
		return JW_VERDICT_RUNS;
	return account->unfiled ? JW_VERDICT_WARM : verdict;
}
