#include "cache/entry.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cache/key.h"
#include "os/file.h"

const char *cache_damage_text(enum cache_damage damage)
{
	static const char *const texts[] = {
		[CACHE_SOUND] = "sound",
		[CACHE_DAMAGE_EMPTY] = "empty file",
		[CACHE_DAMAGE_HEADER] = "shorter than an entry's header",
		[CACHE_DAMAGE_VERSION] = "another format version",
		[CACHE_DAMAGE_TRUNCATED] = "shorter than its header says",
		[CACHE_DAMAGE_NAME] = "its key belongs to another file name",
		[CACHE_DAMAGE_VALUE] = "its value does not match its checksum",
		[CACHE_DAMAGE_READ] = "cannot be read",
		[CACHE_DAMAGE_FOLDER] = "it is a folder: the driver can store no entry there",
		[CACHE_DAMAGE_ACCOUNT] = "another account can have written it",
		[CACHE_DAMAGE_CUBIN] = "its value is not machine code: programs fail with it",
		[CACHE_DAMAGE_GPU] = "for another GPU: programs fail with it",
		[CACHE_DAMAGE_ABI] = "newer than its driver can load: programs fail with it",
		[CACHE_DAMAGE_LINKED] = "its machine code cannot be linked: programs fail with it",
		[CACHE_DAMAGE_OTHER] = "it is the entry of another module with the same name",
	};

	return texts[damage];
}

enum cache_damage cache_entry_header_read(const void *header, size_t got, uint64_t size,
										  struct cache_entry *ret_entry)
{
	struct cursor at = cursor_of(header, got);
	struct cache_entry entry = {0};
	uint32_t version = cursor_u32(&at);

	entry.key_bytes = cursor_u64(&at);
	entry.value_bytes = cursor_u64(&at);
	entry.checksum = cursor_u64(&at);
	if (at.overrun)
		return size ? CACHE_DAMAGE_HEADER : CACHE_DAMAGE_EMPTY;
	if (version != CACHE_VERSION)
		return CACHE_DAMAGE_VERSION;
	if (!range_fits(CACHE_ENTRY_HEADER, entry.key_bytes, size) ||
		!range_fits(CACHE_ENTRY_HEADER + entry.key_bytes, entry.value_bytes, size))
		return CACHE_DAMAGE_TRUNCATED;
	entry.extra_bytes = size - CACHE_ENTRY_HEADER - entry.key_bytes - entry.value_bytes;
	*ret_entry = entry;
	return CACHE_SOUND;
}

enum cache_damage cache_entry_parse(const void *file, size_t size, struct cache_entry *ret_entry)
{
	struct cache_entry entry;
	enum cache_damage damage = cache_entry_header_read(file, size, size, &entry);

	if (damage != CACHE_SOUND)
		return damage;
	entry.key = (const uint8_t *)file + CACHE_ENTRY_HEADER;
	entry.value = entry.key + entry.key_bytes;
	*ret_entry = entry;
	return CACHE_SOUND;
}

enum cache_damage cache_entry_verify(const void *file, size_t size, uint64_t name,
									 struct cache_entry *ret_entry)
{
	struct cache_entry entry;
	enum cache_damage damage = cache_entry_parse(file, size, &entry);
	struct fnv_lane lanes[2];

	if (damage != CACHE_SOUND)
		return damage;
	lanes[0] = (struct fnv_lane){FNV_START, entry.key, (size_t)entry.key_bytes};
	lanes[1] = (struct fnv_lane){FNV_START, entry.value, (size_t)entry.value_bytes};
	fnv_update_many(lanes, 2);
	if (lanes[0].state != name)
		return CACHE_DAMAGE_NAME;
	if (lanes[1].state != entry.checksum)
		return CACHE_DAMAGE_VALUE;
	*ret_entry = entry;
	return CACHE_SOUND;
}

void cache_entry_header(uint8_t header[CACHE_ENTRY_HEADER], uint64_t key_bytes,
						uint64_t value_bytes, uint64_t checksum)
{
	store_u32(header, CACHE_VERSION);
	store_u64(header + 4, key_bytes);
	store_u64(header + 12, value_bytes);
	store_u64(header + 20, checksum);
}

#define NAME "%x/%x/%014llx"
#define NAME_OF(key)                                                                               \
	(unsigned)((key) >> 60), (unsigned)((key) >> 56) & 15,                                         \
		(unsigned long long)((key)&UINT64_C(0xffffffffffffff))

const char *cache_entry_name(char name[CACHE_NAME_SIZE], uint64_t key)
{
	(void)snprintf(name, CACHE_NAME_SIZE, NAME, NAME_OF(key));
	return name;
}

/* Appends the hexadecimal digits of `text` to the key; false if they are not exactly `count`
 * lower-case ones. */
static bool add_hex_digits(const char *text, size_t count, uint64_t *key)
{
	if (strlen(text) != count)
		return false;
	for (; *text; text++) {
		unsigned digit = *text >= '0' && *text <= '9'   ? (unsigned)(*text - '0')
						 : *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10
														: 16;

		if (digit > 15)
			return false;
		*key = *key << 4 | digit;
	}
	return true;
}

bool cache_entry_key(const char *first, const char *second, const char *rest, uint64_t *ret_key)
{
	uint64_t key = 0;

	if (!add_hex_digits(first, 1, &key) || !add_hex_digits(second, 1, &key) ||
		!add_hex_digits(rest, 14, &key))
		return false;
	*ret_key = key;
	return true;
}

char *cache_entry_path(const char *dir, uint64_t key)
{
	return mem_printf("%s/" NAME, dir, NAME_OF(key));
}

static int read_key_part(void *context, uint64_t offset, void *data, size_t size)
{
	size_t got;

	return os_file_read(NULL, context, CACHE_ENTRY_HEADER + offset, data, size, &got) || got != size
			   ? -1
			   : 0;
}

int cache_entry_identity(struct os_file *file, const struct cache_entry *entry,
						 struct jw_identity *ret_identity)
{
	return cache_key_identity_by(ret_identity, read_key_part, file, entry->key_bytes);
}

enum cache_damage cache_file_open(const char *path, const struct os_stat *stat,
								  struct os_file **ret_file)
{
	struct jw_error why = {0};

	if (stat->kind == OS_DIRECTORY)
		return CACHE_DAMAGE_FOLDER;
	/* Opens only regular files: a pipe would block. */
	return stat->kind == OS_REGULAR && !os_file_open(&why, path, OS_OPEN_READ, ret_file)
			   ? CACHE_SOUND
		   : why.code == JW_ERR_FORMAT ? CACHE_DAMAGE_ACCOUNT
									   : CACHE_DAMAGE_READ;
}

/* Reads header and bounds of an open file. */
static enum cache_damage probe_header(struct os_file *file, uint64_t size,
									  struct cache_entry *ret_entry)
{
	uint8_t header[CACHE_ENTRY_HEADER];
	size_t got;

	return os_file_read(NULL, file, 0, header, sizeof header, &got)
			   ? CACHE_DAMAGE_READ
			   : cache_entry_header_read(header, got, size, ret_entry);
}

enum cache_presence cache_presence(const char *dir, uint64_t key,
								   const struct jw_identity *identity,
								   struct cache_probed *ret_probed)
{
	struct cache_probed probed = {.stat.kind = OS_OTHER};
	struct os_file *file = NULL;
	struct cache_entry entry = {0};
	struct jw_identity is;
	struct jw_error why = {0};
	char *path = cache_entry_path(dir, key);

	/* An entry is absent only if the system says that it does not exist, not if the system cannot
	 * say anything about it. */
	if (os_stat(&why, path, &probed.stat) && why.code == JW_ERR_NOT_FOUND) {
		mem_free(path);
		return CACHE_ABSENT;
	}
	probed.damage = cache_file_open(path, &probed.stat, &file);
	if (probed.damage == CACHE_SOUND)
		probed.damage = probe_header(file, probed.stat.size_bytes, &entry);
	if (probed.damage == CACHE_SOUND) {
		probed.key_bytes = entry.key_bytes;
		probed.value_bytes = entry.value_bytes;
		probed.checksum = entry.checksum;
		if (identity && cache_entry_identity(file, &entry, &is))
			probed.damage = CACHE_DAMAGE_READ;
		else if (identity && !cache_identity_equal(&is, identity))
			probed.damage = CACHE_DAMAGE_OTHER;
	}
	os_file_close(file);
	mem_free(path);
	if (ret_probed)
		*ret_probed = probed;
	return probed.damage == CACHE_SOUND ? CACHE_PRESENT : CACHE_UNUSABLE;
}

int cache_entry_identity_at(const char *dir, uint64_t key, struct jw_identity *ret_identity)
{
	char *path = cache_entry_path(dir, key);
	struct os_file *file = NULL;
	struct cache_entry entry;
	struct os_stat stat;
	const int result = !os_stat(NULL, path, &stat) &&
							   cache_file_open(path, &stat, &file) == CACHE_SOUND &&
							   probe_header(file, stat.size_bytes, &entry) == CACHE_SOUND
						   ? cache_entry_identity(file, &entry, ret_identity)
						   : -1;

	os_file_close(file);
	mem_free(path);
	return result;
}
