/* Packs for tests, made from caches of small entries, or with any manifest. */
#pragma once

#include "check.h"

#include "entries.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/pack.h>
#include <jitwarm/store.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "files.h"
#include "pack/manifest.h"
#include "pack/writer.h"

/* Puts an entry's bytes into a cache directory. */
static inline void packs_put(const char *dir, uint64_t key, const void *bytes, size_t size)
{
	files_put_at(cache_entry_path(dir, key), bytes, size);
}

static inline struct jw_export_result packs_export(const char *dir, const char *file)
{
	const struct jw_export_options options = {.cache_dir = dir, .output = file};
	struct jw_export_result result = {0};

	OK(jw_export(why, &options, &result));
	return result;
}

/* A machine with a GPU and driver 555.58.02, whose state and cache are in `home`. */
static inline struct jw_system packs_machine(char *home)
{
	static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};

	return (struct jw_system){
		.gpus = &gpu,
		.gpu_count = 1,
		.state_dir = home,
		.driver = {.version = {12050, {555, 58, 2}},
				   .stamp = "Jun 25 202401:14:48",
				   .trust = JW_TRUST_CONFIRMED},
		.cache = {.path = keep(os_join(home, "cache")), .limit_bytes = UINT64_C(1) << 30},
	};
}

/* Keeps the cache's new entries in the store; `wanted` of them must be new. */
static inline void packs_keep(const struct jw_system *system, size_t wanted)
{
	const struct jw_store_keep_options options = {.system = system};
	size_t entries = SIZE_MAX;

	OK(jw_store_keep(why, &options, &entries));
	assert_int_equal(entries, wanted);
}

/* The parts of entry number 0 (entries.h), and its manifest. */
struct packs_parts {
	uint8_t ptx[8], cubin[ENTRIES_CUBIN];
	char ptx_name[80], cubin_name[80];
	uint64_t key;
};

/* Names the parts for the machine code that is in `cubin`; the entry is for sm_86. */
static inline void packs_parts_name(struct packs_parts *parts)
{
	struct pack_member member = {.kind = PACK_PTX};
	char name[TAR_MAX_NAME + 1];
	struct entries_entry entry;

	memcpy(parts->ptx, "// 00000", sizeof parts->ptx);
	entries_make(&entry, 0, 0);
	parts->key = entry.key;
	digest_of(&member.digest, parts->ptx, sizeof parts->ptx);
	(void)snprintf(parts->ptx_name, sizeof parts->ptx_name, "%s", pack_member_name(name, &member));
	member.kind = PACK_CUBIN;
	digest_of(&member.digest, parts->cubin, sizeof parts->cubin);
	(void)snprintf(parts->cubin_name, sizeof parts->cubin_name, "%s",
				   pack_member_name(name, &member));
}

/* Makes parts with machine code for `sm`. */
static inline void packs_parts_for(struct packs_parts *parts, uint16_t sm, bool relocatable)
{
	entries_cubin(parts->cubin, sm, relocatable);
	packs_parts_name(parts);
}

static inline void packs_parts_make(struct packs_parts *parts)
{
	packs_parts_for(parts, 86, false);
}

/* Returns an entry of the manifest; the caller frees it. */
static inline char *packs_entry_text(const struct packs_parts *parts, const char *target_name,
									 const char *form, unsigned first, unsigned second)
{
	return mem_printf("{\"key\":\"%016llx\",\"driver\":0,\"target\":\"%s\",\"form\":\"%s\","
					  "\"options\":\"\",\"ptx\":%u,\"cubin\":%u}",
					  (unsigned long long)parts->key, target_name, form, first, second);
}

/* One member of a handmade pack. */
struct packs_member {
	const char *name;
	const void *data;
	size_t size;
};

static inline int packs_append(struct jw_error *err, void *context, const void *data, size_t size)
{
	return buf_append(err, context, data, size);
}

/* The last byte of each member's padding */
static uint8_t packs_last_padding;

static inline void packs_member_put(struct writer *writer, const struct packs_member *member)
{
	const size_t padded = tar_padding(member->size);
	uint8_t header[TAR_BLOCK], padding[TAR_BLOCK] = {0};

	tar_header(header, member->name, member->size);
	OK(writer_put(why, writer, header, sizeof header));
	OK(writer_put(why, writer, member->data, member->size));
	if (padded && strcmp(member->name, PACK_MANIFEST) != 0)
		padding[padded - 1] = packs_last_padding;
	OK(writer_put(why, writer, padding, padded));
}

/* Makes a pack with a correct trailer and any content: this manifest, then these members. The
 * caller frees `pack`. */
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
	OK(writer_open(why, &options, &writer));
	OK(writer_frame(why, writer, tar_extent(first.size)));
	packs_member_put(writer, &first);
	for (size_t i = 0; i < count; i++)
		size += tar_extent(members[i].size);
	OK(writer_frame(why, writer, size));
	for (size_t i = 0; i < count; i++)
		packs_member_put(writer, &members[i]);
	OK(writer_put(why, writer, end, sizeof end));
	OK(writer_close(why, writer, &written));
}
