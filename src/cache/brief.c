#include "cache/brief.h"

#include <string.h>

#include "base/cursor.h"

enum cache_damage cache_entry_open(struct os_file *file, struct cache_entry *ret_entry)
{
	uint8_t header[CACHE_ENTRY_HEADER];
	uint64_t size;
	size_t got;

	if (os_file_size(NULL, file, &size) || os_file_read(NULL, file, 0, header, sizeof header, &got))
		return CACHE_DAMAGE_READ;
	return cache_entry_header_read(header, got, size, ret_entry);
}

/* The beginning of the file, as far as it was read. */
struct brief_head {
	uint8_t bytes[4096];
	size_t size;
};

static enum cache_damage read_brief_part(struct os_file *file, const struct brief_head *head,
										 uint64_t offset, uint8_t *bytes, size_t size)
{
	size_t got;

	if (head && range_fits(offset, size, head->size)) {
		memcpy(bytes, head->bytes + offset, size);
		return CACHE_SOUND;
	}
	if (os_file_read(NULL, file, offset, bytes, size, &got))
		return CACHE_DAMAGE_READ;
	return got == size ? CACHE_SOUND : CACHE_DAMAGE_TRUNCATED;
}

static enum cache_damage read_file_brief(struct os_file *file, const struct brief_head *head,
										 const struct cache_entry *entry,
										 struct cache_brief *ret_brief)
{
	const uint64_t both = 2 * CACHE_BRIEF_END, key_end = CACHE_ENTRY_HEADER + entry->key_bytes;
	size_t key_size = (size_t)(entry->key_bytes < both ? entry->key_bytes : both);
	size_t first = key_size < CACHE_BRIEF_END ? key_size : CACHE_BRIEF_END;
	size_t last = key_size - first;
	size_t value =
		(size_t)(entry->value_bytes < CACHE_BRIEF_VALUE ? entry->value_bytes : CACHE_BRIEF_VALUE);
	uint8_t *bytes = ret_brief->bytes;
	enum cache_damage damage = read_brief_part(file, head, CACHE_ENTRY_HEADER, bytes, first);

	if (damage == CACHE_SOUND)
		damage = read_brief_part(file, head, key_end - last, bytes + first, last);
	if (damage == CACHE_SOUND)
		damage = read_brief_part(file, head, key_end, bytes + key_size, value);
	ret_brief->key_bytes = entry->key_bytes;
	ret_brief->value_bytes = entry->value_bytes;
	ret_brief->entry = *entry;
	ret_brief->entry.key = bytes;
	ret_brief->entry.key_bytes = key_size;
	ret_brief->entry.value = bytes + key_size;
	ret_brief->entry.value_bytes = value;
	return damage;
}

enum cache_damage cache_brief_read(struct os_file *file, const struct cache_entry *entry,
								   struct cache_brief *ret_brief)
{
	return read_file_brief(file, NULL, entry, ret_brief);
}

enum cache_damage cache_brief_open(struct os_file *file, struct cache_brief *ret_brief)
{
	struct brief_head head;
	struct cache_entry entry;
	enum cache_damage damage;
	uint64_t size;

	if (os_file_size(NULL, file, &size) ||
		os_file_read(NULL, file, 0, head.bytes, sizeof head.bytes, &head.size))
		return CACHE_DAMAGE_READ;
	damage = cache_entry_header_read(head.bytes, head.size, size, &entry);
	return damage == CACHE_SOUND ? read_file_brief(file, &head, &entry, ret_brief) : damage;
}

bool cache_brief_split(const struct cache_brief *brief, struct cache_key_parts *ret_parts)
{
	struct cache_key_parts parts;

	if (!cache_key_split(brief->entry.key, (size_t)brief->entry.key_bytes, &parts))
		return false;
	parts.payload_size += (size_t)(brief->key_bytes - brief->entry.key_bytes);
	*ret_parts = parts;
	return true;
}
