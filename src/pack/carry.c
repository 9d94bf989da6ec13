/* jw_carry: takes entries of the cache first, since they need no unpacking. */
#include <jitwarm/carry.h>

#include <string.h>

#include <sodium.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/text.h"
#include "cache/entry.h"
#include "os/clock.h"
#include "pack/carry_live.h"
#include "pack/judge.h"
#include "pack/refill.h"

enum { MAX_GROUPS = 256 };

static bool is_same_carry(const void *element, const void *like)
{
	const struct jw_carry_group *a = element, *b = like;

	return a->in_store == b->in_store && !strcmp(a->driver, b->driver) &&
		   !strcmp(a->target, b->target);
}

/* Adds a module to the group that equals `like`, which has no modules yet. Groups beyond MAX_GROUPS
 * are not listed. */
static void add_to_carry_group(struct carry *carry, const struct jw_carry_group *like,
							   size_t modules)
{
	struct jw_carry_result *result = carry->result;
	const size_t at = mem_find_or_add(
		&VEC_LIST(result->groups, result->group_count, carry->group_capacity, MAX_GROUPS), like,
		is_same_carry);

	if (at < MAX_GROUPS)
		result->groups[at].modules += modules;
}

/* Counts the entries that were carried over within the live cache. */
static void sum_up(struct carry *carry, const bool *by_store)
{
	struct jw_carry_result *result = carry->result;

	for (size_t i = 0; i < carry->options->count; i++) {
		const struct carry_find *find = &carry->finds[i];
		struct jw_carry_group group = {0};

		if (!find->found || by_store[i] || !carry->done[i])
			continue;
		result->carried++;
		(void)pack_driver_text(group.driver, &find->driver);
		(void)jw_target_sm(group.target, find->target);
		add_to_carry_group(carry, &group, 1);
	}
}

/* ---- the store */

static void took(void *context, const struct jw_import_result *result)
{
	struct carry *carry = context;

	for (size_t i = 0; i < result->group_count; i++) {
		const struct jw_import_group *group = &result->groups[i];
		struct jw_carry_group like = {.in_store = true};

		if (group->verdict != JW_IMPORT_NEW || !group->carried || !group->entries)
			continue;
		TEXT_COPY(like.driver, group->driver);
		TEXT_COPY(like.target, group->target);
		add_to_carry_group(carry, &like, group->entries);
		carry->result->carried += group->entries;
	}
}

/* Takes entries from the store, or from the folder. */
static int carry_from_packs(struct jw_error *err, struct carry *carry, const char *folder,
							bool *by_store)
{
	const struct jw_carry_options *options = carry->options;
	uint64_t *keys = mem_array(options->count, sizeof *keys);
	uint64_t *key_bytes = mem_array(options->count, sizeof *key_bytes);
	struct jw_identity *identities = mem_array(options->count, sizeof *identities);
	struct refill_request request = {.system = options->system,
									 .folder = folder,
									 .shown = options->shown,
									 .keys = keys,
									 .key_bytes = key_bytes,
									 .identities = identities,
									 .cancel = options->cancel,
									 .context = carry,
									 .took = took};
	struct jw_store_refilled refilled = {0};
	int result;

	for (size_t i = 0; i < options->count; i++) {
		if (carry->done[i])
			continue;
		keys[request.count] = options->keys[i];
		identities[request.count] = options->identities[i];
		key_bytes[request.count++] = options->key_bytes[i];
	}
	result = refill_from_packs(err, &request, &refilled);
	if (!result)
		carry->result->bytes += refilled.bytes;
	for (size_t i = 0; !result && refilled.entries && i < options->count; i++)
		if (!carry->done[i] && cache_presence(options->system->cache.path, options->keys[i],
											  &options->identities[i], NULL) == CACHE_PRESENT)
			carry->done[i] = by_store[i] = true;
	mem_free(keys);
	mem_free(key_bytes);
	mem_free(identities);
	return result;
}

/* Carries all entries over. Entries for which that fails are compiled, so a failure here is only a
 * line. */
static void carry_all(struct carry *carry, bool *by_store)
{
	const struct jw_carry_options *options = carry->options;
	const char *cache_dir = options->system->cache.path;
	struct jw_error why = {0};

	/* Entries that are in the cache now are no longer wanted. */
	for (size_t i = 0; i < options->count && !cancel_asked(&options->cancel); i++) {
		carry->done[i] = cache_presence(cache_dir, options->keys[i], &options->identities[i],
										NULL) == CACHE_PRESENT;
		if (!carry->done[i]) {
			set_add(&carry->by_key, options->keys[i], i);
			set_put(&carry->by_length, options->key_bytes[i], i);
		}
	}
	carry_list_live(carry);
	if (!cancel_asked(&options->cancel) && carry_insert(&why, carry))
		TEXT_COPY(carry->result->note, why.message);
	if (options->store && !options->dry_run && carry_from_packs(&why, carry, NULL, by_store) &&
		why.code != JW_ERR_INTERRUPTED)
		TEXT_COPY(carry->result->note, why.message);
	if (options->folder && !options->dry_run &&
		carry_from_packs(&why, carry, options->folder, by_store) && why.code != JW_ERR_INTERRUPTED)
		TEXT_COPY(carry->result->note, why.message);
	sum_up(carry, by_store);
}

/* Returns what remains of the budget beside the wanted entries in the cache. */
static uint64_t left_of(const struct jw_carry_options *options)
{
	uint64_t left = options->most_bytes;
	struct cache_probed probed;

	if (!left)
		return UINT64_MAX;
	for (size_t i = 0; i < options->kept_count && !cancel_asked(&options->cancel); i++) {
		uint64_t takes = 0;

		if (cache_presence(options->system->cache.path, options->kept[i], NULL, &probed) ==
			CACHE_PRESENT)
			takes = probed.key_bytes + probed.value_bytes;
		left = left > takes ? left - takes : 0;
	}
	return left;
}

int jw_carry(struct jw_error *err, const struct jw_carry_options *options,
			 struct jw_carry_result **ret_result)
{
	const struct jw_system *system = options->system;
	const uint64_t started_ns = os_monotonic_ns();
	struct carry carry = {.options = options};
	bool *by_store;

	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	carry.result = arena_open(sizeof *carry.result);
	carry.finds = mem_array(options->count, sizeof *carry.finds);
	carry.done = mem_array(options->count, sizeof *carry.done);
	by_store = mem_array(options->count, sizeof *by_store);
	carry.left_bytes = left_of(options);
	if (options->count && system->cache.path && system->cache.limit_bytes &&
		system->driver.stamp[0] && system->driver.trust != JW_TRUST_OPAQUE)
		carry_all(&carry, by_store);
	(void)arena_keep(carry.result, carry.result->groups);
	carry.result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
	set_free(&carry.by_key);
	set_free(&carry.by_length);
	mem_free(carry.finds);
	mem_free(carry.done);
	mem_free(by_store);
	*ret_result = carry.result;
	return 0;
}
