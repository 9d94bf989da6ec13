/* The driver's cache, as docs/internals/driver-cache.md describes it: look-up, insert, wipe,
 * eviction. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

#define ENTRY_VERSION 0x41
#define ENTRY_HEADER  28
/* The driver tries the lock every 10 ms, twenty times, then goes on without the cache. */
#define LOCK_TRIES   20
#define LOCK_STEP_MS 10
/* The driver writes its files through a buffer of this size, and unlocks before the last part. */
#define BUFFER 4096

/* Returns DIRECTORY/suffix; the caller frees it. */
static char *cache_path(const char *suffix)
{
	size_t size = strlen(sim.cache_directory) + strlen(suffix) + 2;
	char *path = sim_alloc(size);

	snprintf(path, size, "%s/%s", sim.cache_directory, suffix);
	return path;
}

static char *entry_path(uint64_t hash)
{
	char name[32];

	snprintf(name, sizeof name, "%x/%x/%014llx", (unsigned)(hash >> 60),
			 (unsigned)(hash >> 56 & 15), (unsigned long long)(hash & UINT64_C(0xffffffffffffff)));
	return cache_path(name);
}

/* Makes every missing level of a directory, except the first name of a relative path with several:
 * the driver never makes that one. */
static void make_levels(const char *directory)
{
	char *copy = sim_alloc(strlen(directory) + 1);
	bool relative = *directory != '/' && *directory != '\\';

	memcpy(copy, directory, strlen(directory));
	for (char *at = copy + 1; *at; at++)
		if (*at == '/' || *at == '\\') {
			char was = *at;

			*at = '\0';
			if (!relative)
				os_make_directory(copy);
			relative = false;
			*at = was;
		}
	os_make_directory(copy);
	free(copy);
}

/* Opens `index`, which it makes if it is missing, and locks it. Returns false if the driver goes on
 * without the cache. */
static bool open_index(struct os_file *ret_index, bool exclusive)
{
	char *path = cache_path("index");
	struct os_file index;
	enum os_lock lock = OS_BUSY;
	bool opened;

	make_levels(sim.cache_directory);
	opened = os_open(&index, path, OS_UPDATE) || os_open(&index, path, OS_CREATE_UPDATE);
	free(path);
	if (!opened)
		return false;
	for (int i = 0; i < LOCK_TRIES; i++) {
		lock = os_try_lock(&index, exclusive);
		if (lock != OS_BUSY)
			break;
		os_sleep_ms(LOCK_STEP_MS);
	}
	if (lock != OS_LOCKED) {
		log_event("nolock", "%s", exclusive ? "write" : "read");
		os_close(&index);
		return false;
	}
	*ret_index = index;
	return true;
}

/* Finds the value of a sound entry of this key. A file with bytes after the value is sound. */
static bool entry_parse(const struct bytes *file, const struct bytes *key, struct bytes *ret_value)
{
	const uint8_t *value = file->data + ENTRY_HEADER + key->size;
	uint64_t value_size;

	if (file->size < ENTRY_HEADER + key->size || get_u32(file->data) != ENTRY_VERSION ||
		get_u64(file->data + 4) != key->size ||
		memcmp(file->data + ENTRY_HEADER, key->data, key->size) != 0)
		return false;
	value_size = get_u64(file->data + 12);
	if (value_size > file->size - ENTRY_HEADER - key->size ||
		sim_fnv(SIM_FNV_START, value, value_size) != get_u64(file->data + 20))
		return false;
	bytes_add(ret_value, value, value_size);
	return true;
}

static bool read_entry(uint64_t hash, const struct bytes *key, struct bytes *ret_value)
{
	char *path = entry_path(hash);
	struct bytes content = {NULL, 0};
	struct os_file file;
	bool found = false;

	if (os_open(&file, path, OS_READ)) {
		found =
			os_read(&file, &content) && content.size > 0 && entry_parse(&content, key, ret_value);
		os_close(&file);
	}
	bytes_free(&content);
	free(path);
	return found;
}

/* Deletes the sixteen directories of entries with their content, foreign files too. */
static void wipe(void)
{
	log_event("wipe", "%s", sim.cache_directory);
	for (unsigned i = 0; i < 16; i++) {
		char name[2] = {"0123456789abcdef"[i], '\0'};
		char *path = cache_path(name);

		os_remove_tree(path);
		free(path);
	}
}

/* Says whether the index has fewer rows than its header counts, as it has for a moment during an
 * insert: then even a look-up wipes the cache, and removes the index. */
static bool lacks_rows(const struct os_file *file)
{
	struct bytes content = {NULL, 0};
	bool lacks;

	lacks = os_read(file, &content) && index_lacks_rows(&content);
	bytes_free(&content);
	return lacks;
}

static void remove_index(void)
{
	char *path = cache_path("index");

	os_remove_file(path);
	free(path);
}

bool cache_find(const struct bytes *key, struct bytes *ret_value)
{
	uint64_t hash = sim_fnv(SIM_FNV_START, key->data, key->size);
	struct os_file index;
	bool found = false, lacking;

	if (!sim.cache_directory || sim.cache_disabled || sim.force_jit)
		return false;
	os_process_lock();
	if (open_index(&index, false)) {
		lacking = lacks_rows(&index);
		if (lacking)
			wipe();
		else
			found = read_entry(hash, key, ret_value);
		os_unlock(&index);
		os_close(&index);
		if (lacking)
			remove_index();
	}
	os_process_unlock();
	return found;
}

/* Makes the two directories above an entry's file. */
static void make_entry_levels(const char *path)
{
	size_t length = strlen(path);
	char *copy = sim_alloc(length + 1);

	memcpy(copy, path, length);
	for (int level = 2; level > 0; level--) {
		/* the path ends with h/h/ and fourteen digits */
		copy[length - (level == 2 ? 17 : 15)] = '\0';
		os_make_directory(copy);
		copy[length - (level == 2 ? 17 : 15)] = '/';
	}
	free(copy);
}

/* The driver checks the writes of whole buffers only, and removes the entry if one fails. An error
 * in the last part goes unnoticed. */
static bool write_entry(uint64_t hash, const struct bytes *key, const struct bytes *value)
{
	char *path = entry_path(hash);
	struct bytes content = {NULL, 0};
	struct os_file file;
	bool written = false;

	bytes_add(&content, NULL, ENTRY_HEADER);
	put_u32(content.data, ENTRY_VERSION);
	put_u64(content.data + 4, key->size);
	put_u64(content.data + 12, value->size);
	put_u64(content.data + 20, sim_fnv(SIM_FNV_START, value->data, value->size));
	bytes_add(&content, key->data, key->size);
	bytes_add(&content, value->data, value->size);
	make_levels(sim.cache_directory);
	make_entry_levels(path);
	if (os_open(&file, path, OS_WRITE)) {
		size_t whole = content.size / BUFFER * BUFFER;

		written = os_write(&file, 0, content.data, whole);
		if (written)
			(void)os_write(&file, whole, content.data + whole, content.size - whole);
		os_close(&file);
		if (!written)
			os_remove_file(path);
	}
	bytes_free(&content);
	free(path);
	return written;
}

static void remove_entry(uint64_t hash)
{
	char *path = entry_path(hash);

	os_remove_file(path);
	free(path);
}

/* Removes the row of the same key with its file, then the oldest rows until the new one fits. */
static void make_room(struct index *index, uint64_t hash, uint64_t size)
{
	for (size_t i = index->count; i-- > 0;)
		if (index->rows[i].hash == hash) {
			remove_entry(hash);
			index_remove(index, i);
		}
	while (index->count > 0 && index->total + size > sim.cache_limit) {
		log_event("evict", "%016llx %llu", (unsigned long long)index->rows[0].hash,
				  (unsigned long long)index->rows[0].size);
		remove_entry(index->rows[0].hash);
		index_remove(index, 0);
	}
}

/* Rewrites the index in place without shortening it. Like the driver, it unlocks after the whole
 * buffers, before the last part. */
static void write_index(const struct os_file *file, const struct index *index)
{
	struct bytes content = {NULL, 0};
	size_t early;

	index_format(&content, index);
	early = content.size / BUFFER * BUFFER;
	os_write(file, 0, content.data, early);
	os_unlock(file);
	if (sim.tail_delay_ms)
		os_sleep_ms(sim.tail_delay_ms);
	os_write(file, early, content.data + early, content.size - early);
	bytes_free(&content);
}

static void store_locked(const struct os_file *file, const struct bytes *key,
						 const struct bytes *value)
{
	uint64_t hash = sim_fnv(SIM_FNV_START, key->data, key->size);
	uint64_t size = key->size + value->size;
	struct index index = {NULL, 0, 0};
	struct bytes content = {NULL, 0};

	os_read(file, &content);
	if (!index_parse(&index, &content))
		wipe();
	make_room(&index, hash, size);
	/* If the header's total was too large, there is no space even after all rows are removed. */
	if (index.total + size <= sim.cache_limit && write_entry(hash, key, value)) {
		index_append(&index, hash, size);
		log_event("insert", "%016llx %llu", (unsigned long long)hash, (unsigned long long)size);
	}
	write_index(file, &index);
	index_free(&index);
	bytes_free(&content);
}

void cache_store(const struct bytes *key, const struct bytes *value)
{
	struct os_file index;

	if (!sim.cache_directory || sim.cache_disabled || key->size + value->size > sim.cache_limit)
		return;
	os_process_lock();
	if (open_index(&index, true)) {
		store_locked(&index, key, value);
		os_close(&index);
	}
	os_process_unlock();
}
