/* Any entry of the driver's cache is split within its bytes, and its key is put together again from
 * its parts. */
#include "cache/profile.h"
#include "fuzz.h"

#include <string.h>

#include "base/hash.h"
#include "cache/entry.h"
#include "cache/key.h"

/* A key that was split and joined again has the same hash, unless it names a suffix or 32 bits,
 * which jitwarm's keys never do. */
static void rebuild(const struct cache_entry *entry, const struct cache_key_parts *parts)
{
	struct cache_profile profile = {0};
	uint64_t length;
	uint64_t hash;

	memcpy(profile.stamp, parts->stamp, sizeof profile.stamp);
	hash = cache_key_hash(profile.stamp,
						  &(struct cache_key_input){parts->target.sm, parts->form, parts->payload,
													parts->payload_size, parts->options,
													parts->options_length, false},
						  &length);
	if (parts->target.suffix || parts->word_bits != 64 || !length ||
		length != entry->key_bytes) /* "sm_086" */
		return;
	MUST(hash == fnv_update(FNV_START, entry->key, (size_t)entry->key_bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cache_entry entry;
	struct cache_key_parts parts;
	struct cache_origin origin;

	if (cache_entry_parse(data, size, &entry) != CACHE_SOUND)
		return 0;
	MUST(CACHE_ENTRY_HEADER + entry.key_bytes + entry.value_bytes + entry.extra_bytes == size);
	(void)cache_entry_verify(data, size, fnv_update(FNV_START, entry.key, (size_t)entry.key_bytes),
							 &entry);
	if (cache_key_split(entry.key, (size_t)entry.key_bytes, &parts))
		rebuild(&entry, &parts);
	cache_origin_of(entry.key, (size_t)entry.key_bytes, entry.value, (size_t)entry.value_bytes,
					&origin);
	MUST(strlen(origin.driver) < sizeof origin.driver);
	return 0;
}
