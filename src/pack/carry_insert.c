#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/insert.h"
#include "cache/sound.h"
#include "code/cubin.h"
#include "os/file.h"
#include "pack/carry_live.h"

/* The number of entries, and of bytes, that are inserted together. */
enum { TOGETHER = 16, TOGETHER_BYTES = 64 << 20 };

struct inserting {
	struct carry *carry;
	struct cache_live *live;
	size_t count;
	uint64_t bytes;
	size_t modules[TOGETHER];
	struct buf files[TOGETHER];
	struct cache_addition additions[TOGETHER];
	struct cache_part parts[TOGETHER][3];
	uint8_t starts[TOGETHER][CACHE_ENTRY_HEADER + CACHE_STAMP_SIZE];
};

/* Verifies that the file matches its name, that its new name is the wanted one, that its value is
 * sound, and that this driver loads its cubin. */
static bool verify(const struct carry *carry, size_t at, const struct buf *file,
				   struct cache_entry *ret_entry)
{
	const struct jw_carry_options *options = carry->options;
	const struct carry_find *find = &carry->finds[at];
	struct cubin_header cubin;
	struct cache_entry entry;
	struct jw_identity identity;
	struct fnv_lane lanes[3];

	if (cache_entry_parse(file->data, file->size, &entry) != CACHE_SOUND ||
		entry.key_bytes != options->key_bytes[at] || entry.key_bytes < CACHE_STAMP_SIZE)
		return false;
	lanes[0] = (struct fnv_lane){FNV_START, entry.key, (size_t)entry.key_bytes};
	lanes[1] =
		(struct fnv_lane){fnv_update(FNV_START, options->system->driver.stamp, CACHE_STAMP_SIZE),
						  entry.key + CACHE_STAMP_SIZE, (size_t)entry.key_bytes - CACHE_STAMP_SIZE};
	lanes[2] = (struct fnv_lane){FNV_START, entry.value, (size_t)entry.value_bytes};
	fnv_update_many(lanes, 3);
	cache_key_identity_of(&identity, entry.key, (size_t)entry.key_bytes);
	if (!cache_identity_equal(&identity, &options->identities[at]) || lanes[0].state != find->key ||
		lanes[1].state != options->keys[at] || lanes[2].state != entry.checksum ||
		entry.checksum != find->checksum ||
		cubin_read(NULL, entry.value, (size_t)entry.value_bytes, &cubin) ||
		cubin.sm != find->target.sm || cubin.relocatable != (find->form == CACHE_KEY_LINK) ||
		!cache_abi_loads(cubin.abi, options->system->driver.version.cuda))
		return false;
	*ret_entry = entry;
	return true;
}

static int insert_carried_batch(struct jw_error *err, struct inserting *inserting)
{
	struct carry *carry = inserting->carry;
	int result = inserting->count
					 ? cache_insert(err, inserting->live, inserting->additions, inserting->count)
					 : 0;

	for (size_t i = 0; i < inserting->count; i++) {
		const struct cache_addition *addition = &inserting->additions[i];

		if (addition->added == CACHE_ADDED_NEW || addition->added == CACHE_ADDED_REPLACED ||
			addition->added == CACHE_ADDED_SAME) {
			carry->done[inserting->modules[i]] = true;
			carry->result->bytes += addition->row_bytes;
		}
		buf_free(&inserting->files[i]);
	}
	carry->tried += inserting->count;
	inserting->count = 0;
	inserting->bytes = 0;
	if (carry->options->progress)
		carry->options->progress(carry->options->context, carry->tried, carry->to_try);
	return result;
}

/* Adds an entry with the new stamp in its key to the batch; its other bytes stay. The batch owns
 * `file` from now on. */
static void batch_add(struct inserting *inserting, size_t at, struct buf *file,
					  const struct cache_entry *entry)
{
	const struct carry *carry = inserting->carry;
	const size_t i = inserting->count++;
	struct cache_part *parts = inserting->parts[i];
	uint8_t *start = inserting->starts[i];

	cache_entry_header(start, entry->key_bytes, entry->value_bytes, entry->checksum);
	memcpy(start + CACHE_ENTRY_HEADER, carry->options->system->driver.stamp, CACHE_STAMP_SIZE);
	parts[0] = (struct cache_part){start, sizeof inserting->starts[i]};
	parts[1] = (struct cache_part){entry->key + CACHE_STAMP_SIZE,
								   (size_t)entry->key_bytes - CACHE_STAMP_SIZE};
	parts[2] = (struct cache_part){entry->value, (size_t)entry->value_bytes};
	inserting->files[i] = *file;
	inserting->bytes += file->size;
	*file = (struct buf){0};
	inserting->modules[i] = at;
	inserting->additions[i] = (struct cache_addition){.parts = parts,
													  .part_count = 3,
													  .key = carry->options->keys[at],
													  .key_bytes = entry->key_bytes,
													  .identity = &carry->options->identities[at],
													  .sm = carry->finds[at].target.sm,
													  .form = carry->finds[at].form,
													  .verified = true};
}

/* ---- which entries, and in which order */

struct carried_place {
	size_t module, row;
};

static int by_row(const void *a, const void *b)
{
	const struct carried_place *left = a, *right = b;

	return (left->row > right->row) - (left->row < right->row);
}

/* Sorts the entries in the order of the index: the oldest, which may be evicted, are read first. */
static size_t choose_places(struct carry *carry, struct carried_place *places)
{
	size_t count = 0;

	for (size_t i = 0; i < carry->options->count; i++) {
		const struct carry_find *find = &carry->finds[i];
		const uint64_t row_bytes = carry->options->key_bytes[i] + find->value_bytes;

		if (!find->found || carry->done[i] || row_bytes > carry->left_bytes)
			continue;
		carry->left_bytes -= row_bytes;
		places[count++] = (struct carried_place){i, find->row};
	}
	if (count)
		qsort(places, count, sizeof *places, by_row);
	return count;
}

static int insert_carried(struct jw_error *err, struct carry *carry,
						  const struct carried_place *places, size_t count)
{
	const struct jw_carry_options *options = carry->options;
	const char *user = cache_user_stamp(options->system);
	const struct cache_live_options how = {.limit_bytes = options->system->cache.limit_bytes,
										   .when_full = user ? CACHE_FULL_EVICT : CACHE_FULL_REFUSE,
										   .stamp = user};
	struct inserting *inserting = mem_alloc(sizeof *inserting);
	struct cache_live_counts counts;
	int result = 0;

	if (cache_live_open(err, options->system->cache.path, &how, &inserting->live)) {
		mem_free(inserting);
		return -1;
	}
	inserting->carry = carry;
	for (size_t i = 0; i < options->kept_count; i++)
		cache_keep(inserting->live, options->kept[i]);
	for (size_t i = 0; !result && i < count; i++) {
		const size_t at = places[i].module;
		char *path;
		struct buf file = {0};
		struct cache_entry entry;

		if (cancel_asked(&options->cancel))
			break;
		path = cache_entry_path(options->system->cache.path, carry->finds[at].key);
		/* The module of a missing, changed or damaged entry is compiled. */
		if (!os_read_file(NULL, path, CACHE_MAX_ENTRY, &file) && verify(carry, at, &file, &entry))
			batch_add(inserting, at, &file, &entry);
		else
			buf_free(&file);
		mem_free(path);
		if (inserting->count == TOGETHER || inserting->bytes > TOGETHER_BYTES)
			result = insert_carried_batch(err, inserting);
	}
	/* After a failure the entries read so far are dropped; after an interrupt they are inserted. */
	if (!result)
		result = insert_carried_batch(err, inserting);
	for (size_t i = 0; i < inserting->count; i++)
		buf_free(&inserting->files[i]);
	cache_live_counts(inserting->live, &counts);
	carry->result->evicted += counts.evicted;
	carry->result->evicted_in_use += counts.evicted_in_use;
	if (cache_live_close(result ? NULL : err, inserting->live))
		result = -1;
	mem_free(inserting);
	return result;
}

int carry_insert(struct jw_error *err, struct carry *carry)
{
	struct carried_place *places = mem_array(carry->options->count, sizeof *places);
	const size_t count = choose_places(carry, places);
	int result = 0;

	carry->to_try = carry->tried + count;
	if (count && carry->options->dry_run) {
		for (size_t i = 0; i < count; i++) {
			const size_t at = places[i].module;

			carry->done[at] = true;
			if (carry->options->found)
				carry->options->found[at] = true;
			carry->result->bytes += carry->options->key_bytes[at] + carry->finds[at].value_bytes;
		}
	} else if (count) {
		result = insert_carried(err, carry, places, count);
	}
	mem_free(places);
	return result;
}
