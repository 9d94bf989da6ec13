/* Packs for tests: from caches of small entries, and with manifests of any kind. */
#ifndef JW_TESTS_PACKS_H
#define JW_TESTS_PACKS_H

#include "check.h"

#include <string.h>

#include <jitwarm/pack.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "os/file.h"
#include "pack/manifest.h"
#include "pack/writer.h"

/* Puts an entry's bytes into a cache directory. */
static inline void packs_put(const char *dir, uint64_t key, const void *bytes, size_t size)
{
	char *path = cache_entry_path(NULL, dir, key), *above = os_dir_name(NULL, path);

	assert_int_equal(os_make_dirs(NULL, above, 0700), 0);
	assert_int_equal(os_write_atomic(NULL, path, bytes, size), 0);
	mem_free(above);
	mem_free(path);
}

static inline struct jw_export_result packs_export(const char *dir, const char *file)
{
	const struct jw_export_options options = {.cache_dir = dir, .output = file};
	struct jw_export_result result;
	struct jw_error err = {0};

	if (jw_export(&err, &options, &result))
		fail_msg("%s", err.message);
	return result;
}

/* One member of a pack that is made by hand. */
struct packs_member {
	const char *name;
	const void *data;
	size_t size;
};

static inline int packs_append(struct jw_error *err, void *context, const void *data, size_t size)
{
	return buf_append(err, context, data, size);
}

static inline void packs_member_put(struct writer *writer, const struct packs_member *member)
{
	static const uint8_t zeros[TAR_BLOCK];
	uint8_t header[TAR_BLOCK];

	tar_header(header, member->name, member->size);
	assert_int_equal(writer_put(NULL, writer, header, sizeof header), 0);
	assert_int_equal(writer_put(NULL, writer, member->data, member->size), 0);
	assert_int_equal(writer_put(NULL, writer, zeros, tar_padding(member->size)), 0);
}

/* A pack with a sound outside and whatever inside: this manifest, then these members. The caller
 * frees `pack`. */
static inline void packs_make(struct buf *pack, const char *manifest,
							  const struct packs_member *members, size_t count)
{
	static const uint8_t end[TAR_END];
	const struct packs_member first = {PACK_MANIFEST, manifest, strlen(manifest)};
	struct writer_options options = {
		.context = pack, .write = packs_append, .level = 1, .workers = 1};
	struct writer *writer;
	struct written written;
	uint64_t size = TAR_END;

	*pack = BUF_MAX(1 << 24);
	assert_int_equal(writer_open(NULL, &options, &writer), 0);
	assert_int_equal(writer_frame(NULL, writer, tar_extent(first.size)), 0);
	packs_member_put(writer, &first);
	for (size_t i = 0; i < count; i++)
		size += tar_extent(members[i].size);
	assert_int_equal(writer_frame(NULL, writer, size), 0);
	for (size_t i = 0; i < count; i++)
		packs_member_put(writer, &members[i]);
	assert_int_equal(writer_put(NULL, writer, end, sizeof end), 0);
	assert_int_equal(writer_close(NULL, writer, &written), 0);
}

#endif
