#include "pack/carry_live.h"

#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cache/key.h"
#include "cache/view.h"
#include "os/file.h"
#include "pack/judge.h"
#include "pack/ledger.h"

enum { MOST_DRIVERS = 64 };

/* State of reading the cache. */
struct look {
	struct carry *carry;
	struct pack_driver drivers[MOST_DRIVERS]; /* stamps of other drivers seen so far */
	size_t driver_count;
	struct ledger ledger;
	struct set rows;
	struct buf key;
};

static const struct pack_driver *driver_of_stamp(struct look *look, const char *stamp)
{
	struct pack_driver *driver;

	for (size_t i = 0; i < look->driver_count; i++)
		if (!strcmp(look->drivers[i].stamp, stamp))
			return &look->drivers[i];
	/* More drivers than this are rare: beyond them the last slot is used again. */
	driver =
		&look->drivers[look->driver_count < MOST_DRIVERS ? look->driver_count++ : MOST_DRIVERS - 1];
	pack_driver_of_stamp(driver, stamp, look->carry->options->system);
	return driver;
}

/* Keys for GPUs with two and with three digits differ by one byte. */
static bool may_be_wanted(const struct carry *carry, const struct cache_file *file)
{
	for (int i = -1; i <= 1; i++)
		if (set_has(&carry->by_length, file->probed.key_bytes + (uint64_t)i))
			return file->probed.damage == CACHE_SOUND;
	return false;
}

static bool is_better_place(const struct carry_find *one, const struct carry_find *other)
{
	if (!other->found || one->judgement.refused != other->judgement.refused)
		return !other->found || other->judgement.refused;
	if (one->judgement.older != other->judgement.older)
		return other->judgement.older;
	if (one->driver.cuda != other->driver.cuda)
		return one->driver.cuda > other->driver.cuda;
	/* The same compiler: any will do, but the choice must not vary. */
	return strcmp(one->driver.release, other->driver.release) > 0;
}

/* The wanted module with this name under the system's stamp and for one of its GPUs; SIZE_MAX: no
 * wanted module. */
static size_t wanted_as(const struct carry *carry, const struct cache_key_parts *parts,
						const uint8_t *end, uint16_t sm)
{
	struct cache_profile profile = {.trust = JW_TRUST_CONFIRMED};
	const size_t rest = (size_t)(end - parts->payload);
	size_t cursor = 0, length, at;
	uint64_t key;

	memcpy(profile.stamp, carry->options->system->driver.stamp, sizeof profile.stamp);
	key = cache_key_start(&profile, sm, &length);
	if (!set_has(&carry->by_length, length + rest))
		return SIZE_MAX;
	key = fnv_update(key, parts->payload, rest);
	at = set_find(&carry->by_key, key, &cursor);
	return at != SET_NONE && carry->options->key_bytes[at] == length + rest ? at : SIZE_MAX;
}

/* An entry that was carried over before belongs to its first driver, not to the one in its key. */
static void take_live_entry(struct look *look, const struct cache_file *file)
{
	struct carry *carry = look->carry;
	const struct jw_system *system = carry->options->system;
	const uint8_t *end = look->key.data + file->probed.key_bytes;
	struct cache_key_parts parts;
	struct carry_find find = {.found = true, .row = SIZE_MAX};
	const struct ledger_item *older;
	size_t cursor = 0;

	if (!cache_key_split(look->key.data, (size_t)file->probed.key_bytes, &parts) || parts.jitlink ||
		parts.word_bits != 64)
		return;
	find.target = parts.target;
	find.form = parts.form;
	find.key = file->key;
	find.value_bytes = file->probed.value_bytes;
	find.checksum = file->probed.checksum;
	find.row = set_find(&look->rows, file->key, &cursor);
	older = ledger_marked(&look->ledger, system->cache.path, file->key);
	find.driver =
		*driver_of_stamp(look, older ? ledger_mark_stamp(&look->ledger, older) : parts.stamp);
	judge_made(&find.driver, parts.target, system, carry->options->carry_over, &find.judgement);
	for (size_t i = 0; i < system->gpu_count; i++) {
		const uint16_t sm = system->gpus[i].target.sm;
		size_t at;

		/* Entries for other GPUs of this machine are not reported, nor what this driver has made:
		 * there is nothing to carry over from. */
		if (sm != parts.target.sm && (judge_has_gpu(system, parts.target) ||
									  !strcmp(find.driver.stamp, system->driver.stamp)))
			continue;
		at = wanted_as(carry, &parts, end, sm);
		if (at != SIZE_MAX && is_better_place(&find, &carry->finds[at]))
			carry->finds[at] = find;
	}
}

void carry_look(struct carry *carry)
{
	const struct jw_carry_options *options = carry->options;
	const struct jw_cache_options where = {.path = options->system->cache.path};
	struct look look = {.carry = carry, .key = BUF_MAX(CACHE_MOST_ENTRY)};
	struct cache_view view;

	if (!os_exists(where.path) || cache_view_open(NULL, &where, /* headers= */ true, &view))
		return;
	ledger_open(&look.ledger, ledger_home(options->system), where.path);
	look.rows = cache_index_map(&view.index);
	for (size_t i = 0; i < view.files.count; i++) {
		const struct cache_file *file = &view.files.files[i];

		if (cancel_asked(&options->cancel))
			break;
		if (may_be_wanted(carry, file) && cache_file_key(where.path, file, &look.key))
			take_live_entry(&look, file);
	}
	ledger_close(&look.ledger);
	set_free(&look.rows);
	buf_free(&look.key);
	cache_view_free(&view);
}
