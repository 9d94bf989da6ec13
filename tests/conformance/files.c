/* Reads and changes the cache's files: the parts of an entry and the rows of the index. */
#include "suite.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t fnv(const void *data, size_t size)
{
	const uint8_t *byte = data;
	uint64_t state = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		state = (state ^ byte[i]) * UINT64_C(0x100000001b3);
	return state;
}

static uint64_t number(const uint8_t *at, size_t size)
{
	uint64_t value = 0;

	while (size-- > 0)
		value = value << 8 | at[size];
	return value;
}

bool read_file(const char *path, struct blob *ret_blob)
{
	FILE *file = fopen(path, "rb");
	struct blob blob = {NULL, 0};
	char part[65536];
	size_t got;

	if (!file)
		return false;
	blob_add(&blob, "", 0);
	while ((got = fread(part, 1, sizeof part, file)) > 0)
		blob_add(&blob, part, got);
	fclose(file);
	*ret_blob = blob;
	return true;
}

/* Writes in place, like the driver; a test that wants another inode removes the file first. */
bool write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");
	bool written;

	if (!file)
		return false;
	written = fwrite(data, 1, size, file) == size;
	return fclose(file) == 0 && written;
}

bool exists(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

char *cache_file(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof *paths, "%s/%s", suite.cache, name);
	return path;
}

void remove_tree(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *item;

	chmod(path, 0700);
	while (folder && (item = readdir(folder)) != NULL) {
		char inner[1024];

		if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
			continue;
		snprintf(inner, sizeof inner, "%s/%s", path, item->d_name);
		if (unlink(inner) != 0)
			remove_tree(inner);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

void cache_clear(void)
{
	remove_tree(suite.cache);
	unlink(suite.cache);
	mkdir(suite.cache, 0700);
}

bool entry_reread(struct entry *entry)
{
	const uint8_t *at;

	entry_free(entry);
	if (!read_file(entry->path, &entry->file) || entry->file.size < 28)
		return false;
	at = entry->file.data;
	entry->key_size = number(at + 4, 8);
	entry->value_size = number(at + 12, 8);
	entry->checksum = number(at + 20, 8);
	if (number(at, 4) != 0x41 || entry->key_size > entry->file.size - 28 ||
		entry->value_size > entry->file.size - 28 - entry->key_size)
		return false;
	entry->key = at + 28;
	entry->value = entry->key + entry->key_size;
	return true;
}

void entry_free(struct entry *entry)
{
	blob_free(&entry->file);
}

/* Reads the entries below CACHE/a/b. */
static size_t read_folder(const char *cache, unsigned a, unsigned b, struct entry *entries,
						  size_t most)
{
	char path[400];
	DIR *folder;
	const struct dirent *item;
	size_t count = 0;

	snprintf(path, sizeof path, "%s/%x/%x", cache, a, b);
	folder = opendir(path);
	while (folder && (item = readdir(folder)) != NULL) {
		if (strlen(item->d_name) != 14) /* not an entry's name */
			continue;
		if (count < most) {
			struct entry *entry = &entries[count];

			*entry = (struct entry){.hash = (uint64_t)a << 60 | (uint64_t)b << 56 |
											strtoull(item->d_name, NULL, 16)};
			snprintf(entry->path, sizeof entry->path, "%s/%.14s", path, item->d_name);
			entry_reread(entry);
		}
		count++;
	}
	if (folder)
		closedir(folder);
	return count;
}

size_t entries_read(const char *cache, struct entry *entries, size_t most)
{
	size_t count = 0;

	for (unsigned i = 0; i < 256; i++)
		count += read_folder(cache, i >> 4, i & 15, entries + (count < most ? count : most),
							 count < most ? most - count : 0);
	return count;
}

size_t entries_count(const char *cache)
{
	return entries_read(cache, NULL, 0);
}

bool only_entry(struct entry *ret_entry)
{
	struct entry entry;

	if (entries_read(suite.cache, &entry, 1) != 1)
		return false;
	*ret_entry = entry;
	return entry.key != NULL;
}

bool has_key(int sm, const void *payload, size_t size, const char *tail)
{
	struct blob key = {NULL, 0};
	char head[64], path[64];
	uint64_t hash;
	struct entry entry = {0};
	bool same;

	snprintf(head, sizeof head, "%.19sHOST64sm_%d", suite.stamp, sm);
	blob_add(&key, head, strlen(head));
	blob_add(&key, payload, size);
	blob_add(&key, tail, strlen(tail));
	hash = fnv(key.data, key.size);
	snprintf(path, sizeof path, "%x/%x/%014llx", (unsigned)(hash >> 60),
			 (unsigned)(hash >> 56 & 15), (unsigned long long)(hash & UINT64_C(0xffffffffffffff)));
	snprintf(entry.path, sizeof entry.path, "%s", cache_file(path));
	same = entry_reread(&entry) && entry.key_size == key.size &&
		   memcmp(entry.key, key.data, key.size) == 0;
	entry_free(&entry);
	blob_free(&key);
	return same;
}

bool index_read(struct index *ret_index)
{
	struct blob file;

	if (!read_file(cache_file("index"), &file))
		return false;
	*ret_index = (struct index){.file_size = file.size};
	if (file.size >= 16) {
		ret_index->version = (uint32_t)number(file.data, 4);
		ret_index->count = (uint32_t)number(file.data + 4, 4);
		ret_index->total = number(file.data + 8, 8);
		for (size_t i = 0; i < ret_index->count && i < 600 && 32 + 16 * i <= file.size; i++)
			ret_index->rows[i] = (struct row){number(file.data + 16 + 16 * i, 8),
											  number(file.data + 24 + 16 * i, 8)};
	}
	blob_free(&file);
	return true;
}

void index_write(const struct index *index)
{
	struct blob file = {NULL, 0};

	blob_add(&file, &index->version, 4);
	blob_add(&file, &index->count, 4);
	blob_add(&file, &index->total, 8);
	blob_add(&file, index->rows, index->count * sizeof *index->rows);
	if (!write_file(cache_file("index"), file.data, file.size))
		abort();
	blob_free(&file);
}
