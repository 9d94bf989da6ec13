/* The manifest of a pack: a manifest that was read is written and read back unchanged. */
#include "fuzz.h"
#include "pack/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pack_manifest manifest, again;
	struct buf text = {0};

	if (manifest_parse(NULL, (const char *)data, size, &manifest))
		return 0;
	for (size_t i = 0; i < manifest.entry_count; i++) {
		const struct pack_entry *entry = &manifest.entries[i];
		char start[CACHE_KEY_MAX_START + 1], tail[CACHE_KEY_MAX_TAIL];

		MUST(entry->ptx < manifest.member_count && entry->cubin < manifest.member_count);
		MUST(cache_key_write_start(start, manifest.drivers[entry->driver].stamp, entry->target) <
			 CACHE_KEY_MAX_START + 1);
		MUST(pack_key_tail(tail, entry) <= CACHE_KEY_MAX_TAIL);
	}
	if (!manifest_format(NULL, &manifest, &text)) {
		MUST(!manifest_parse(NULL, buf_text(&text), text.size, &again));
		MUST(again.entry_count == manifest.entry_count);
		MUST(manifest_content(&again) == manifest_content(&manifest));
		manifest_free(&again);
	}
	buf_free(&text);
	manifest_free(&manifest);
	return 0;
}
