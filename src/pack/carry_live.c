#include "pack/carry_live.h"

#include <string.h>

#include "base/cancel.h"
#include "base/hash.h"
#include "cache/key.h"
#include "cache/view.h"
#include "os/file.h"
#include "pack/judge.h"

enum { MAX_DRIVERS = 64 };

/* The state of reading the cache. */
struct live {
	struct carry *carry;
	struct pack_driver drivers[MAX_DRIVERS]; /* the stamps of other drivers seen so far */
	size_t driver_count;
	struct set rows;
	struct buf key;
};

static const struct pack_driver *driver_of_stamp(struct live *live, const char *stamp)
{
	struct pack_driver *driver;

	for (size_t i = 0; i < live->driver_count; i++)
		if (!strcmp(live->drivers[i].stamp, stamp))
			return &live->drivers[i];
	/* More drivers than this are rare; beyond them the last slot is used again. */
	driver =
		&live->drivers[live->driver_count < MAX_DRIVERS ? live->driver_count++ : MAX_DRIVERS - 1];
	pack_driver_of_stamp(driver, stamp, live->carry->options->system);
	return driver;
}

/* Returns the wanted module of this key under the system's stamp; SIZE_MAX if there is none. */
static size_t wanted_as(const struct carry *carry, const struct cache_key_parts *parts,
						const struct buf *old_key)
{
	const uint8_t *end = old_key->data + old_key->size;
	struct cache_profile profile = {.trust = JW_TRUST_CONFIRMED};
	const size_t rest = (size_t)(end - parts->payload);
	size_t cursor = 0, length, at;
	struct jw_identity identity;
	uint64_t key;

	memcpy(profile.stamp, carry->options->system->driver.stamp, sizeof profile.stamp);
	key = cache_key_start(profile.stamp, parts->target.sm, &length);
	key = fnv_update(key, parts->payload, rest);
	if (!set_has(&carry->by_key, key))
		return SIZE_MAX;
	cache_key_identity_of(&identity, old_key->data, old_key->size);
	while ((at = set_find(&carry->by_key, key, &cursor)) != SET_NONE)
		if (cache_identity_equal(&carry->options->identities[at], &identity))
			return at;
	return SIZE_MAX;
}

/* Adds a live entry of another driver to those found, if this driver wants its module and accepts
 * its machine code. */
static void take_live_entry(struct live *live, const struct cache_file *file)
{
	struct carry *carry = live->carry;
	const struct jw_system *system = carry->options->system;
	struct cache_key_parts parts;
	struct carry_find find = {.found = true, .row = SIZE_MAX};
	struct judgement judgement;
	size_t cursor = 0, at;

	if (!cache_key_split(live->key.data, (size_t)file->probed.key_bytes, &parts) || parts.jitlink ||
		parts.word_bits != 64)
		return;
	at = wanted_as(carry, &parts, &live->key);
	if (at == SIZE_MAX)
		return;
	find.driver = *driver_of_stamp(live, parts.stamp);
	judge_made(&find.driver, parts.target, system, &judgement);
	if (judgement.refused || !judgement.carried)
		return;
	find.target = parts.target;
	find.form = parts.form;
	find.key = file->key;
	find.value_bytes = file->probed.value_bytes;
	find.checksum = file->probed.checksum;
	find.row = set_find(&live->rows, file->key, &cursor);
	/* Any entry would do, but the choice must not vary. */
	if (!carry->finds[at].found || strcmp(find.driver.release, carry->finds[at].driver.release) > 0)
		carry->finds[at] = find;
}

void carry_list_live(struct carry *carry)
{
	const struct jw_carry_options *options = carry->options;
	const struct jw_cache_options where = {.path = options->system->cache.path};
	struct live live = {.carry = carry, .key = BUF_MAX(CACHE_MAX_ENTRY)};
	struct cache_view view;

	if (!os_exists(where.path) || cache_view_open(NULL, &where, /* headers= */ true, &view))
		return;
	live.rows = cache_index_map(&view.index);
	for (size_t i = 0; i < view.files.count; i++) {
		const struct cache_file *file = &view.files.files[i];

		if (cancel_asked(&options->cancel))
			break;
		if (file->probed.damage == CACHE_SOUND &&
			set_has(&carry->by_length, file->probed.key_bytes) &&
			cache_file_key(where.path, file, &live.key))
			take_live_entry(&live, file);
	}
	set_free(&live.rows);
	buf_free(&live.key);
	cache_view_free(&view);
}
