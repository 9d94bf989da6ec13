#include "cache/presence.h"

#include "base/cursor.h"
#include "base/mem.h"
#include "os/file.h"

static enum cache_damage probe_header(const uint8_t *header, size_t got, uint64_t size_bytes,
									  uint64_t key_bytes, struct cache_probed *probed)
{
	struct cursor at = cursor_of(header, got);
	uint32_t version = cursor_u32(&at);

	probed->key_bytes = cursor_u64(&at);
	probed->value_bytes = cursor_u64(&at);
	probed->checksum = cursor_u64(&at);
	if (at.overrun)
		return size_bytes ? CACHE_DAMAGE_HEADER : CACHE_DAMAGE_EMPTY;
	if (version != CACHE_VERSION)
		return CACHE_DAMAGE_VERSION;
	if (key_bytes && probed->key_bytes != key_bytes)
		return CACHE_DAMAGE_NAME;
	if (!range_fits(CACHE_ENTRY_HEADER, probed->key_bytes, size_bytes) ||
		!range_fits(CACHE_ENTRY_HEADER + probed->key_bytes, probed->value_bytes, size_bytes))
		return CACHE_DAMAGE_TRUNCATED;
	return CACHE_SOUND;
}

static enum cache_presence probe_path(struct jw_error *why, const char *path, uint64_t key_bytes,
									  struct cache_probed *probed)
{
	uint8_t header[CACHE_ENTRY_HEADER];
	struct os_file *file = NULL;
	struct os_stat stat = {.kind = OS_OTHER};
	size_t got;

	/* Absent is what the system says is not there, and not what it cannot say anything about. */
	if (os_stat(why, path, &stat) && why->code == JW_ERR_NOT_FOUND)
		return CACHE_ABSENT;
	probed->size_bytes = stat.size_bytes;
	probed->inode = stat.inode;
	probed->mtime_ns = stat.mtime_ns;
	probed->changed_ns = stat.changed_ns;
	/* Opens only regular files: a pipe would block. */
	if (stat.kind == OS_REGULAR && !os_file_open(why, path, OS_OPEN_READ, &file) &&
		!os_file_read(why, file, 0, header, sizeof header, &got))
		probed->damage = probe_header(header, got, stat.size_bytes, key_bytes, probed);
	os_file_close(file);
	return probed->damage == CACHE_SOUND ? CACHE_PRESENT : CACHE_UNUSABLE;
}

int cache_look_up(struct jw_error *err, const char *dir, uint64_t key, uint64_t key_bytes,
				  struct cache_probed *ret_probed, enum cache_presence *ret_presence)
{
	struct cache_probed probed = {.damage = CACHE_DAMAGE_READ};
	struct jw_error why = {0};
	char *path = cache_entry_path(&why, dir, key);

	*ret_presence = path ? probe_path(&why, path, key_bytes, &probed) : CACHE_UNUSABLE;
	if (ret_probed && *ret_presence != CACHE_ABSENT)
		*ret_probed = probed;
	mem_free(path);
	return error_if_memory(err, &why);
}

enum cache_presence cache_presence(const char *dir, uint64_t key, uint64_t key_bytes,
								   struct cache_probed *ret_probed)
{
	enum cache_presence presence;

	(void)cache_look_up(NULL, dir, key, key_bytes, ret_probed, &presence);
	return presence;
}
