/* A whole pack, down to its entries. The target computes the trailer, since no mutation would get
 * past it. Inputs that begin with 'T' are the tar archive itself, which the target compresses.
 * Reading as a whole and by members must agree. */
#include "fuzz.h"
#include "fuzz_memory.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"
#include "pack/import.h"
#include "pack/pack_tar.h"

static void add_trailer(uint8_t *pack, size_t size)
{
	uint8_t digest[32];

	crypto_generichash(digest, sizeof digest, pack, size, NULL, 0);
	pack_trailer(pack + size, digest);
}

static bool read_pack(const char *path, bool keep)
{
	const struct jw_import_options options = {.path = "", .cache_dir = "absent"};
	struct jw_import_result result = {.path = NULL};
	struct import import = {
		.options = &options, .result = &result, .most_kept_bytes = keep ? UINT64_MAX : 0};
	struct reader *reader = NULL;
	bool taken = false;

	if (source_open(NULL, path, NULL, &import.source))
		return false;
	if (!reader_open(NULL, import.source, &import.manifest, &reader) &&
		!import_check_entries(NULL, &import, reader)) {
		taken = true;
		for (size_t i = 0; i < import.manifest.entry_count; i++)
			MUST(import.fates[i].key == import.manifest.entries[i].key);
	}
	member_walk_free(&import.walk);
	reader_close(reader);
	source_close(import.source);
	manifest_free(&import.manifest);
	mem_free(import.fates);
	mem_free(result.groups);
	return taken;
}

/* Makes two frames: the manifest's, if there is a manifest, and the rest. */
static size_t compress(uint8_t *pack, size_t room, const uint8_t *tar, size_t size)
{
	uint64_t manifest = 0;
	size_t first = 0, used = 0;

	if (size >= TAR_BLOCK && tar_read(tar, PACK_MANIFEST, &manifest) && manifest < size &&
		tar_extent(manifest) < size)
		first = (size_t)tar_extent(manifest);
	if (first)
		used = ZSTD_compress(pack, room, tar, first, 1);
	MUST(!ZSTD_isError(used));
	room = ZSTD_compress(pack + used, room - used, tar + first, size - first, 1);
	MUST(!ZSTD_isError(room));
	return used + room;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool is_tar = size && data[0] == 'T';
	size_t room = 2 * ZSTD_compressBound(size) + PACK_TRAILER_SIZE;
	uint8_t *pack = mem_alloc(room);
	size_t used = size;
	char path[32];
	int file;

	if (is_tar)
		used = compress(pack, room - PACK_TRAILER_SIZE, data + 1, size - 1);
	else if (size)
		memcpy(pack, data, size);
	add_trailer(pack, used);
	file = fuzz_memory_file("pack");
	MUST(file >= 0 &&
		 write(file, pack, used + PACK_TRAILER_SIZE) == (ssize_t)(used + PACK_TRAILER_SIZE));
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	MUST(read_pack(path, true) == read_pack(path, false));
	(void)close(file);
	mem_free(pack);
	return 0;
}
