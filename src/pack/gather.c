#include "pack/gather.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/key_parts.h"
#include "cache/scan.h"
#include "devcode/cubin.h"
#include "os/file.h"
#include "os/system.h"
#include "pack/text.h"

enum { MOST_THREADS = 8 };

enum fate { TAKEN, DAMAGED, NOT_CUDA, OTHER_DRIVER, OTHER_TARGET, UNSUITED, UNWANTED };

struct work {
	const struct jw_export_options *options;
	const char *dir;
	struct cache_scan scan;
	struct gathered *items; /* as many as files */
	uint8_t *fates;
	size_t next;
	uv_mutex_t mutex;
	struct jw_error why; /* the first failure */
	bool failed;
	struct set hashed; /* checksum of a cubin → item whose digests are known */
};

/* What each thread reads into, again and again. */
struct room {
	struct buf bytes, other;
};

/* The name of a payload's first kernel or function. */
static void find_lead(char lead[GATHER_LEAD], const uint8_t *payload, size_t size)
{
	static const char mark[] = ".entry ";
	size_t at = 0, length = 0;

	while (at + sizeof mark - 1 < size && memcmp(payload + at, mark, sizeof mark - 1) != 0) {
		const uint8_t *dot = memchr(payload + at + 1, '.', size - at - 1);

		at = dot ? (size_t)(dot - payload) : size;
	}
	at += sizeof mark - 1;
	while (length < GATHER_LEAD - 1 && at < size && payload[at] > ' ' && payload[at] != '(')
		lead[length++] = (char)payload[at++];
	lead[length] = '\0';
}

/* Whether jitwarm can tell at the other end what this is. */
static bool is_suited(const struct cache_entry *entry, const struct cache_key_parts *parts,
					  const struct pack_entry *made)
{
	struct cubin_header cubin;

	return parts->word_bits == 64 && parts->payload_size > 0 &&
		   parts->options_length <= PACK_MOST_OPTIONS &&
		   (!parts->options_length || text_is_utf8(parts->options, parts->options_length)) &&
		   !cubin_read(NULL, entry->value, (size_t)entry->value_bytes, &cubin) &&
		   cubin.sm == parts->target.sm && cubin.relocatable == pack_entry_is_relocatable(made);
}

static bool is_wanted_target(const struct jw_export_options *options, struct jw_target target)
{
	bool wanted = !options->target_count;

	for (size_t i = 0; !wanted && i < options->target_count; i++)
		wanted = options->targets[i].sm == target.sm;
	return wanted;
}

static bool is_wanted_driver(const struct jw_export_options *options, const struct gathered *item)
{
	const char *stamp = options->system ? options->system->driver.stamp : "";

	return options->all_drivers || !*stamp || !strcmp(stamp, item->stamp) ||
		   pack_entry_is_jitlink(&item->entry);
}

/* Both hashes side by side: each is bound by its multiplications. */
static bool hashes_hold(const struct cache_entry *entry, uint64_t key)
{
	struct fnv_lane lanes[] = {
		{FNV_START, entry->key, (size_t)entry->key_bytes},
		{FNV_START, entry->value, (size_t)entry->value_bytes},
	};

	fnv_update_many(lanes, 2);
	return lanes[0].state == key && lanes[1].state == entry->checksum;
}

static int take_parts(struct jw_error *err, const struct cache_key_parts *parts, uint64_t key,
					  struct gathered *item)
{
	item->entry.key = key;
	item->entry.target = parts->target;
	item->entry.form = !parts->options                 ? PACK_BARE
					   : parts->form == CACHE_KEY_LINK ? PACK_LINK
													   : PACK_LOAD;
	item->entry.options = mem_string_n(err, parts->options, parts->options_length);
	memcpy(item->stamp, parts->stamp, sizeof item->stamp);
	item->payload_bytes = parts->payload_size;
	return item->entry.options ? 0 : -1;
}

/* Into a buffer that is used again for the next: fresh memory for each would cost more than the
 * reading. `ret_stat` may be NULL. */
static int read_into(struct jw_error *err, const char *path, struct buf *bytes,
					 struct os_stat *ret_stat)
{
	struct os_file *file = NULL;
	uint64_t size;
	int result = -1;

	buf_clear(bytes);
	bytes->most = CACHE_MOST_ENTRY;
	if ((ret_stat && os_stat(err, path, ret_stat)) || os_file_open(err, path, OS_OPEN_READ, &file))
		return -1;
	if (os_file_size(err, file, &size))
		goto done;
	if (size > CACHE_MOST_ENTRY) {
		error_set(err, JW_ERR_LIMIT, "%s: too large for an entry", path);
		goto done;
	}
	if (!buf_reserve(err, bytes, (size_t)size))
		result = os_file_read(err, file, 0, bytes->data, (size_t)size, &bytes->size);
done:
	os_file_close(file);
	return result;
}

/* ---- digests */

/* An item whose digests are known and whose cubin has this checksum; SIZE_MAX where there is none.
 */
static size_t find_hashed(struct work *work, uint64_t checksum, uint64_t size_bytes)
{
	size_t cursor = 0, at;

	uv_mutex_lock(&work->mutex);
	do
		at = set_find(&work->hashed, checksum, &cursor);
	while (at != SET_NONE && work->items[at].cubin_bytes != size_bytes);
	uv_mutex_unlock(&work->mutex);
	return at;
}

/* Drivers leave the same module and the same cubin under several stamps. Comparing them takes an
 * eighth of the time that hashing takes. */
static bool copy_digests(struct work *work, const struct cache_entry *entry,
						 const struct cache_key_parts *parts, struct room *room,
						 struct gathered *item)
{
	size_t at = find_hashed(work, entry->checksum, entry->value_bytes);
	const struct gathered *like = at == SET_NONE ? NULL : &work->items[at];
	char *path = like ? cache_entry_path(NULL, work->dir, like->entry.key) : NULL;
	struct cache_entry other;
	struct cache_key_parts other_parts;
	bool same = path && !read_into(NULL, path, &room->other, NULL) &&
				cache_entry_parse(room->other.data, room->other.size, &other) == CACHE_SOUND &&
				other.value_bytes == entry->value_bytes &&
				!memcmp(other.value, entry->value, (size_t)entry->value_bytes) &&
				cache_key_split(other.key, (size_t)other.key_bytes, &other_parts) &&
				other_parts.payload_size == parts->payload_size &&
				!memcmp(other_parts.payload, parts->payload, parts->payload_size);

	if (same) {
		item->payload = like->payload;
		item->cubin = like->cubin;
	}
	mem_free(path);
	return same;
}

static void find_digests(struct work *work, const struct cache_entry *entry,
						 const struct cache_key_parts *parts, struct room *room, size_t at)
{
	struct gathered *item = &work->items[at];

	item->cubin_bytes = entry->value_bytes;
	if (copy_digests(work, entry, parts, room, item))
		return;
	digest_of(&item->payload, parts->payload, parts->payload_size);
	digest_of(&item->cubin, entry->value, (size_t)entry->value_bytes);
	uv_mutex_lock(&work->mutex);
	(void)set_add(NULL, &work->hashed, entry->checksum, at);
	uv_mutex_unlock(&work->mutex);
}

static enum fate judge(struct jw_error *err, struct work *work, struct room *room, uint64_t key,
					   size_t at)
{
	struct gathered *item = &work->items[at];
	const struct buf *bytes = &room->bytes;
	struct cache_entry entry;
	struct cache_key_parts parts;

	if (cache_entry_parse(bytes->data, bytes->size, &entry) != CACHE_SOUND ||
		!hashes_hold(&entry, key))
		return DAMAGED;
	if (!cache_key_split(entry.key, (size_t)entry.key_bytes, &parts))
		return NOT_CUDA;
	if (take_parts(err, &parts, key, item))
		return DAMAGED;
	if (!is_wanted_target(work->options, parts.target))
		return OTHER_TARGET;
	if (!is_wanted_driver(work->options, item))
		return OTHER_DRIVER;
	if (!is_suited(&entry, &parts, &item->entry))
		return UNSUITED;
	item->file_bytes = bytes->size;
	find_digests(work, &entry, &parts, room, at);
	find_lead(item->lead, parts.payload, parts.payload_size);
	return TAKEN;
}

static int gather_one(struct jw_error *err, struct work *work, size_t at, struct room *room)
{
	const struct cache_file *file = &work->scan.files[at];
	struct jw_error why = {0};
	struct os_stat stat;
	char *path = cache_entry_path(err, work->dir, file->key);
	int result = -1;

	if (!path)
		return -1;
	work->fates[at] = DAMAGED;
	if (work->options->wanted && !work->options->wanted(work->options->context, file->key))
		work->fates[at] = UNWANTED;
	else if (file->probed.damage == CACHE_SOUND && !read_into(NULL, path, &room->bytes, &stat)) {
		work->fates[at] = (uint8_t)judge(&why, work, room, file->key, at);
		work->items[at].mtime_ns = stat.mtime_ns;
	}
	result = why.code == JW_ERR_MEMORY ? error_set(err, why.code, "%s", why.message) : 0;
	mem_free(path);
	return result;
}

static void gather_thread(void *argument)
{
	struct work *work = argument;
	struct room room = {0};

	for (;;) {
		struct jw_error why = {0};
		bool stop;
		size_t at;

		uv_mutex_lock(&work->mutex);
		stop = work->failed || work->next >= work->scan.count;
		at = work->next++;
		uv_mutex_unlock(&work->mutex);
		if (stop)
			break;
		if (work->options->stop && work->options->stop(work->options->context))
			error_set(&why, JW_ERR_INTERRUPTED, "interrupted");
		else if (!gather_one(&why, work, at, &room))
			continue;
		uv_mutex_lock(&work->mutex);
		if (!work->failed)
			work->why = why;
		work->failed = true;
		uv_mutex_unlock(&work->mutex);
	}
	buf_free(&room.bytes);
	buf_free(&room.other);
}

/* What threads cannot be had for is done by this one. */
static void gather_all(struct work *work)
{
	uv_thread_t threads[MOST_THREADS];
	unsigned cores = os_cores(), started = 0;

	while (started + 1 < cores && started < MOST_THREADS &&
		   !uv_thread_create(&threads[started], gather_thread, work))
		started++;
	gather_thread(work);
	while (started-- > 0)
		(void)uv_thread_join(&threads[started]);
}

static int compare(const void *left, const void *right)
{
	const struct gathered *a = left, *b = right;
	int order = strcmp(a->lead, b->lead);

	if (!order)
		order = (a->payload_bytes > b->payload_bytes) - (a->payload_bytes < b->payload_bytes);
	if (!order)
		order = memcmp(&a->payload, &b->payload, sizeof a->payload);
	if (!order)
		order = memcmp(&a->cubin, &b->cubin, sizeof a->cubin);
	return order ? order : (a->entry.key > b->entry.key) - (a->entry.key < b->entry.key);
}

static void keep_taken(struct work *work, struct gather *gather, struct jw_export_result *result)
{
	size_t counts[UNWANTED + 1] = {0};

	gather->items = work->items;
	work->items = NULL;
	for (size_t i = 0; i < work->scan.count; i++) {
		counts[work->fates[i]]++;
		if (work->fates[i] == TAKEN)
			gather->items[gather->count++] = gather->items[i];
		else
			mem_free(gather->items[i].entry.options);
	}
	if (gather->count)
		qsort(gather->items, gather->count, sizeof *gather->items, compare);
	result->damaged = counts[DAMAGED];
	result->not_cuda = counts[NOT_CUDA];
	result->other_drivers = counts[OTHER_DRIVER];
	result->other_targets = counts[OTHER_TARGET];
	result->unsuited = counts[UNSUITED];
}

int gather_cache(struct jw_error *err, const struct jw_export_options *options, const char *dir,
				 struct gather *ret_gather, struct jw_export_result *result)
{
	struct work work = {.options = options, .dir = dir};
	struct gather gather = {0};

	if (cache_scan(err, dir, &work.scan))
		return -1;
	work.items = mem_array(err, work.scan.count, sizeof *work.items);
	work.fates = mem_alloc(err, work.scan.count);
	if (!work.items || !work.fates || uv_mutex_init(&work.mutex)) {
		work.failed = true;
		error_set(&work.why, JW_ERR_MEMORY, "out of memory");
		mem_free(work.items);
	} else {
		gather_all(&work);
		uv_mutex_destroy(&work.mutex);
		keep_taken(&work, &gather, result);
	}
	cache_scan_free(&work.scan);
	mem_free(work.fates);
	set_free(&work.hashed);
	if (work.failed) {
		gather_free(&gather);
		return error_set(err, work.why.code, "%s", work.why.message);
	}
	*ret_gather = gather;
	return 0;
}

void gather_free(struct gather *gather)
{
	for (size_t i = 0; i < gather->count; i++)
		mem_free(gather->items[i].entry.options);
	mem_free(gather->items);
	*gather = (struct gather){0};
}

int gather_read(struct jw_error *err, const char *dir, const struct gathered *item,
				struct buf *bytes, struct gather_parts *ret_parts)
{
	char *path = cache_entry_path(err, dir, item->entry.key);
	struct cache_entry entry;
	struct cache_key_parts parts;
	struct os_stat stat;
	int result = -1;

	if (!path || read_into(err, path, bytes, &stat))
		goto done;
	if (stat.mtime_ns == item->mtime_ns && bytes->size == item->file_bytes &&
		cache_entry_parse(bytes->data, bytes->size, &entry) == CACHE_SOUND &&
		cache_key_split(entry.key, (size_t)entry.key_bytes, &parts) &&
		parts.payload_size == item->payload_bytes && entry.value_bytes == item->cubin_bytes) {
		*ret_parts = (struct gather_parts){parts.payload, entry.value};
		result = 0;
	} else {
		error_set(err, JW_ERR_BUSY, "%s: was changed while it was packed: please try again", path);
	}
done:
	mem_free(path);
	return result;
}
