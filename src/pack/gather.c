#include "pack/gather.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/key.h"
#include "cache/sound.h"
#include "cache/view.h"
#include "code/cubin.h"
#include "driver/driver_probe.h"
#include "driver/targets.h"
#include "find/named_paths.h"
#include "os/file.h"
#include "os/platform.h"
#include "os/uv.h"
#include "plan/plan.h"

enum { MAX_THREADS = 8 };
/* The most entries that a thread reads and hashes together: hashing their keys side by side is
 * three times as fast. */
enum { MAX_TOGETHER = 8, MAX_BYTES_TOGETHER = 16 << 20 };

enum fate {
	TAKEN,
	DAMAGED,
	UNREADABLE,
	NOT_CUDA,
	OTHER_DRIVER,
	OTHER_TARGET,
	UNSUITED,
	UNWANTED, /* not wanted, jitwarm's own probe, or removed in the meantime */
};

struct work {
	const struct jw_export_options *options;
	const char *dir;
	struct cache_files scan;
	struct gathered *items; /* as many items as files */
	uint8_t *fates;
	size_t next;
	uv_mutex_t mutex;
	struct jw_error why; /* the reason if it was cancelled */
	bool cancelled;
};

/* The buffers of one thread, used again for each file. */
struct room {
	struct buf bytes[MAX_TOGETHER];
	struct cache_entry entries[MAX_TOGETHER];
	struct cache_key_parts parts[MAX_TOGETHER];
	uint64_t key_states[MAX_TOGETHER], value_states[MAX_TOGETHER];
	bool read[MAX_TOGETHER]; /* the entry's parsed header */
	size_t first, count;     /* indices into the scan's files */
	struct cache_loads loads;
};

/* Finds the name of the first kernel in a module's PTX; "" if there is none. */
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

/* Returns whether an import can recognize this entry. */
static bool is_suited(const struct cache_entry *entry, const struct cache_key_parts *parts,
					  const struct pack_entry *made)
{
	struct cubin_header cubin;

	return parts->word_bits == 64 && parts->payload_size > 0 &&
		   parts->options_length <= PACK_MAX_OPTIONS &&
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

/* Reads into a buffer that is used again for the next file: allocating each time would cost more
 * than the reading. */
static int read_into(struct jw_error *err, const char *path, struct buf *bytes,
					 struct os_stat *ret_stat)
{
	struct os_file *file = NULL;
	uint64_t size;
	int result = -1;

	buf_clear(bytes);
	bytes->most = CACHE_MAX_ENTRY;
	if (os_stat(err, path, ret_stat) || os_file_open(err, path, OS_OPEN_READ, &file))
		return -1;
	if (os_file_size(err, file, &size))
		goto done;
	if (size > CACHE_MAX_ENTRY) {
		error_set(err, JW_ERR_LIMIT, "%s: too large for an entry", path);
		goto done;
	}
	(void)buf_reserve(NULL, bytes, (size_t)size);
	result = os_file_read(err, file, 0, bytes->data, (size_t)size, &bytes->size);
done:
	os_file_close(file);
	return result;
}

/* Hashes keys first, then values, so that parallel lanes have similar sizes. */
static void hash_together(struct room *room)
{
	struct fnv_lane lanes[2 * MAX_TOGETHER];
	size_t count = 0;

	for (size_t i = 0; i < room->count; i++)
		if (room->read[i])
			lanes[count++] = (struct fnv_lane){FNV_START, room->entries[i].key,
											   (size_t)room->entries[i].key_bytes};
	for (size_t i = 0; i < room->count; i++)
		if (room->read[i])
			lanes[count++] = (struct fnv_lane){FNV_START, room->entries[i].value,
											   (size_t)room->entries[i].value_bytes};
	fnv_update_many(lanes, count);
	for (size_t i = 0, at = 0; i < room->count; i++)
		if (room->read[i]) {
			room->key_states[i] = lanes[at].state;
			room->value_states[i] = lanes[count / 2 + at++].state;
		}
}

static int read_gathered_value(struct jw_error *err, void *context, uint64_t offset, void *data,
							   size_t size)
{
	const struct cache_entry *entry = context;

	(void)err;
	memcpy(data, entry->value + offset, size);
	return 0;
}

/* Returns the fate of an entry that was read whole; fills in its item if it is taken. */
static enum fate judge_gathered(struct work *work, struct room *room, size_t i)
{
	const struct cache_entry *entry = &room->entries[i];
	struct cache_key_parts *parts = &room->parts[i];
	struct gathered *item = &work->items[room->first + i];
	const uint64_t key = work->scan.files[room->first + i].key;
	const struct cache_code code = {.parts = parts,
									.read = read_gathered_value,
									.context = &room->entries[i],
									.size = entry->value_bytes};
	struct jw_identity identity;
	const uint8_t *rest;

	if (room->key_states[i] != key || room->value_states[i] != entry->checksum)
		return DAMAGED;
	if (!cache_key_split(entry->key, (size_t)entry->key_bytes, parts))
		return NOT_CUDA;
	if (driver_probe_is(parts->payload, parts->payload_size))
		return UNWANTED;
	item->entry.key = key;
	item->entry.target = parts->target;
	item->entry.form = !parts->options                 ? PACK_BARE
					   : parts->form == CACHE_KEY_LINK ? PACK_LINK
													   : PACK_LOAD;
	item->entry.options = mem_string_n(parts->options, parts->options_length);
	memcpy(item->stamp, parts->stamp, sizeof item->stamp);
	item->payload_bytes = parts->payload_size;
	if (!is_wanted_target(work->options, parts->target))
		return OTHER_TARGET;
	if (!is_wanted_driver(work->options, item))
		return OTHER_DRIVER;
	if (!is_suited(entry, parts, &item->entry))
		return UNSUITED;
	/* The code must load in the driver of its stamp, here or where the pack is imported. */
	if (cache_code_damage(&room->loads, &code) != CACHE_SOUND)
		return DAMAGED;
	item->file_bytes = room->bytes[i].size;
	item->cubin_bytes = entry->value_bytes;
	find_lead(item->lead, parts->payload, parts->payload_size);
	digest_of(&item->payload, parts->payload, parts->payload_size);
	rest = parts->payload + parts->payload_size;
	cache_key_identity(&identity, &item->payload, rest,
					   (size_t)(entry->key + entry->key_bytes - rest));
	/* Another module's entry may have the name of a wanted one. */
	if (work->options->wanted && !work->options->wanted(work->options->context, key, &identity))
		return UNWANTED;
	digest_of(&item->cubin, entry->value, (size_t)entry->value_bytes);
	return TAKEN;
}

static void read_gathered(struct work *work, struct room *room, size_t i)
{
	const struct jw_export_options *options = work->options;
	const struct cache_file *file = &work->scan.files[room->first + i];
	uint8_t *fate = &work->fates[room->first + i];
	struct buf *bytes = &room->bytes[i];
	struct jw_error why = {0};
	struct os_stat stat;
	char *path;

	room->read[i] = false;
	*fate = DAMAGED;
	if (options->wanted && !options->wanted(options->context, file->key, NULL)) {
		*fate = UNWANTED;
		return;
	}
	if (file->probed.damage != CACHE_SOUND) {
		if (file->probed.damage == CACHE_DAMAGE_READ || file->probed.damage == CACHE_DAMAGE_FOLDER)
			*fate = UNREADABLE;
		return;
	}
	path = cache_entry_path(work->dir, file->key);
	if (!read_into(&why, path, bytes, &stat)) {
		room->read[i] =
			cache_entry_parse(bytes->data, bytes->size, &room->entries[i]) == CACHE_SOUND;
		work->items[room->first + i].mtime_ns = stat.mtime_ns;
	} else {
		*fate = why.code == JW_ERR_NOT_FOUND ? UNWANTED
				: why.code == JW_ERR_LIMIT   ? DAMAGED
											 : UNREADABLE;
	}
	mem_free(path);
}

/* Takes the next files for this thread; false if there are no more. */
static bool take_batch(struct work *work, struct room *room)
{
	const struct cache_file *files = work->scan.files;
	uint64_t bytes = 0;

	uv_mutex_lock(&work->mutex);
	room->first = work->next;
	room->count = 0;
	while (!work->cancelled && work->next < work->scan.count && room->count < MAX_TOGETHER) {
		bytes += files[work->next].probed.stat.size_bytes;
		if (room->count && bytes > MAX_BYTES_TOGETHER)
			break;
		work->next++;
		room->count++;
	}
	uv_mutex_unlock(&work->mutex);
	return room->count != 0;
}

static void gather_thread(void *argument)
{
	struct work *work = argument;
	struct room room = {0};

	if (work->options->system)
		room.loads.driver = sound_driver_of(&work->options->system->driver);
	while (take_batch(work, &room)) {
		struct jw_error why = {0};

		if (cancel_check(&why, &work->options->cancel)) {
			uv_mutex_lock(&work->mutex);
			work->why = why;
			work->cancelled = true;
			uv_mutex_unlock(&work->mutex);
			break;
		}
		for (size_t i = 0; i < room.count; i++)
			read_gathered(work, &room, i);
		hash_together(&room);
		for (size_t i = 0; i < room.count; i++)
			if (room.read[i])
				work->fates[room.first + i] = (uint8_t)judge_gathered(work, &room, i);
	}
	for (size_t i = 0; i < MAX_TOGETHER; i++)
		buf_free(&room.bytes[i]);
}

/* Gathers all entries; if no thread can be started, this one does all the work. */
static void gather_all(struct work *work)
{
	uv_thread_t threads[MAX_THREADS];
	unsigned cores = os_cores(), started = 0;

	while (started + 1 < cores && started < MAX_THREADS &&
		   !os_thread_start(&threads[started], gather_thread, work))
		started++;
	gather_thread(work);
	while (started-- > 0)
		(void)uv_thread_join(&threads[started]);
}

static int compare_gathered(const void *left, const void *right)
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

/* Moves the taken items to `gather`, in the order of packs, and counts the others by reason. */
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
		qsort(gather->items, gather->count, sizeof *gather->items, compare_gathered);
	result->damaged = counts[DAMAGED];
	result->unreadable = counts[UNREADABLE];
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

	if (cache_files_scan(err, dir, /* headers= */ true, &options->cancel, &work.scan))
		return -1;
	work.items = mem_array(work.scan.count, sizeof *work.items);
	work.fates = mem_alloc(work.scan.count);
	os_mutex_make(&work.mutex);
	gather_all(&work);
	uv_mutex_destroy(&work.mutex);
	keep_taken(&work, &gather, result);
	cache_files_free(&work.scan);
	mem_free(work.fates);
	if (work.cancelled) {
		gather_free(&gather);
		return error_copy(err, &work.why);
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
	char *path = cache_entry_path(dir, item->entry.key);
	struct cache_entry entry;
	struct cache_key_parts parts;
	struct jw_error why = {0};
	struct os_stat stat;
	int result = -1;

	if (read_into(&why, path, bytes, &stat) && why.code != JW_ERR_NOT_FOUND) {
		error_copy(err, &why);
	} else if (!why.code && stat.mtime_ns == item->mtime_ns && bytes->size == item->file_bytes &&
			   cache_entry_parse(bytes->data, bytes->size, &entry) == CACHE_SOUND &&
			   cache_key_split(entry.key, (size_t)entry.key_bytes, &parts) &&
			   parts.payload_size == item->payload_bytes &&
			   entry.value_bytes == item->cubin_bytes) {
		*ret_parts = (struct gather_parts){parts.payload, entry.value};
		result = 0;
	} else {
		error_set(err, JW_ERR_BUSY, "%s: was changed while it was packed: try again", path);
	}
	mem_free(path);
	return result;
}

/* Computes the names of the entries of files' modules. */

bool wanted_has(const struct wanted_entries *wanted, uint64_t key,
				const struct jw_identity *identity)
{
	size_t cursor = 0, at;

	while ((at = set_find(&wanted->keys, key, &cursor)) != SET_NONE)
		if (!identity || cache_identity_equal(&wanted->identities[at], identity))
			return true;
	return false;
}

void wanted_free(struct wanted_entries *wanted)
{
	set_free(&wanted->keys);
	mem_free(wanted->identities);
	*wanted = (struct wanted_entries){0};
}

int wanted_of_paths(struct jw_error *err, const struct jw_export_options *options,
					struct wanted_entries *ret_wanted)
{
	struct jw_target targets[PLAN_MAX_TARGETS];
	struct cache_profile profile;
	struct plan_request request = {
		.targets = targets,
		.profile = &profile,
		.everything = true,
		.link_inputs = true,
		.speed = {.factor = 1},
		.cancel = options->cancel,
	};
	struct jw_found *found = NULL;
	struct plan *plan = NULL;
	struct wanted_entries wanted = {0};
	int result;

	if (!options->system || !options->system->driver.stamp[0])
		return error_set(err, JW_ERR_USAGE,
						 "jitwarm cannot tell a package's entries without knowing the driver: run "
						 "this on a machine with a driver");
	profile = profile_of_system(options->system);
	request.state_dir = options->system->state_dir;
	request.target_count = targets_wanted(options->system, options->targets, options->target_count,
										  targets, PLAN_MAX_TARGETS);
	if (!request.target_count)
		return error_set(err, JW_ERR_USAGE, "no GPU here: name one with --arch");
	if (!options->found &&
		named_paths_find(err, options->paths, options->path_count, false, options->cancel, &found))
		return -1;
	request.found = options->found ? options->found : found;
	result = plan_build(err, &request, &plan);
	if (!result)
		wanted.identities = mem_array(plan->module_count, sizeof *wanted.identities);
	for (size_t i = 0; !result && i < plan->module_count; i++) {
		wanted.identities[i] = plan->modules[i].identity;
		if (plan->modules[i].key)
			set_add(&wanted.keys, plan->modules[i].key, i);
	}
	/* A file that could not be read does not count as one without modules. */
	if (!result && !wanted.keys.count && plan->troubles && plan->note_count)
		result = error_set(err, JW_ERR_IO, "%s", plan->notes[0]);
	if (result)
		wanted_free(&wanted);
	else
		*ret_wanted = wanted;
	plan_free(plan);
	jw_result_free(found);
	return result;
}
