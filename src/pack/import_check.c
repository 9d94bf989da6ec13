/* The first pass over a pack of entries: checks each entry's manifest data, and the content against
 * the manifest. */

#include "base/mem.h"
#include "pack/import.h"
#include "pack/judge.h"

/* Entries whose keys are hashed in parallel; all of one payload, so that the lanes have equal
 * lengths. */
enum { MOST_TOGETHER = 16 };

/* ---- the machine */

int import_needs_stamp(struct jw_error *err, const struct jw_system *system)
{
	if (system->driver.stamp[0])
		return 0;
	if (system->driver.library[0])
		return error_set(
			err, JW_ERR_UNSUPPORTED,
			"%s: the names of this driver's entries are not known: “jitwarm status” asks "
			"the driver where there is a GPU",
			system->driver.library);
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "no NVIDIA driver is installed here: to fill a directory for another "
					 "machine, name it with --cache DIR");
}

/* A directory given by name may belong to another machine. */
static int choose_system(struct jw_error *err, struct import *import)
{
	if (import->system && import_needs_stamp(err, import->system)) {
		if (!import->options->cache_dir)
			return -1;
		import->system = NULL;
	}
	import->result->as_is = !import->system;
	return 0;
}

/* ---- by the manifest */

static int judge_by_manifest(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct pack_manifest *manifest = &import->manifest;

	import->fates = mem_array(err, manifest->entry_count, sizeof *import->fates);
	if (!import->fates)
		return -1;
	for (uint32_t i = 0; i < manifest->entry_count; i++) {
		struct judgement judgement;

		judge_entry(manifest, &manifest->entries[i], import->system, options->carry_over,
					&judgement);
		import->fates[i].carried = judgement.carried && !judgement.refused;
		import->fates[i].older = judgement.older;
		if (!judgement.refused)
			continue;
		import->fates[i].verdict = JW_IMPORT_REFUSED;
		if (import_put_into_group(err, import, i, judgement.why))
			return -1;
	}
	return 0;
}

/* ---- by the content */

size_t import_key_start(char start[PACK_MOST_START], const struct import *import, uint32_t at)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	const char *stamp = import->fates[at].carried ? import->system->driver.stamp
												  : import->manifest.drivers[entry->driver].stamp;

	return pack_key_start(start, stamp, entry->target);
}

static int contradiction(struct jw_error *err, const struct import *import, uint32_t at,
						 const char *what)
{
	return error_set(err, JW_ERR_FORMAT, "%s: entry %016llx: %s", source_name(import->source),
					 (unsigned long long)import->manifest.entries[at].key, what);
}

static uint64_t start_of(const struct import *import, uint32_t at, bool own, size_t *ret_length)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	char start[PACK_MOST_START];

	*ret_length =
		own ? pack_key_start(start, import->manifest.drivers[entry->driver].stamp, entry->target)
			: import_key_start(start, import, at);
	return fnv_update(FNV_START, start, *ret_length);
}

/* Computes each entry's name under its original driver, which must equal the manifest's, its name
 * in this cache, and its cubin's checksum. */
static int check_hashes(struct jw_error *err, struct import *import, const struct member_walk *walk,
						const uint32_t *entries, size_t count)
{
	struct fnv_lane lanes[3 * MOST_TOGETHER];
	size_t filled = 0, cubins;

	for (size_t i = 0; i < 2 * count; i++) {
		const struct pack_entry *entry = &import->manifest.entries[entries[i / 2]];
		size_t size = (size_t)import->manifest.members[entry->ptx].size_bytes, length;
		uint64_t state = start_of(import, entries[i / 2], i % 2 == 0, &length);

		if (i % 2 == 0 || import->fates[entries[i / 2]].carried)
			lanes[filled++] = (struct fnv_lane){state, walk->bytes[entry->ptx], size};
		import->fates[entries[i / 2]].key_bytes = length + size;
	}
	cubins = filled;
	for (size_t i = 0; i < count; i++) {
		uint32_t cubin = import->manifest.entries[entries[i]].cubin;

		if (!i || cubin != import->manifest.entries[entries[i - 1]].cubin)
			lanes[filled++] = (struct fnv_lane){FNV_START, walk->bytes[cubin],
												(size_t)import->manifest.members[cubin].size_bytes};
	}
	fnv_update_many(lanes, filled);
	filled = 0;
	for (size_t i = 0; i < count; i++) {
		const struct pack_entry *entry = &import->manifest.entries[entries[i]];
		struct import_fate *fate = &import->fates[entries[i]];
		char tail[PACK_MOST_TAIL];
		size_t length = pack_key_tail(tail, entry);
		uint64_t own = fnv_update(lanes[filled++].state, tail, length);

		if (own != entry->key)
			return contradiction(err, import, entries[i],
								 "its name is not that of its module, options and driver");
		fate->key = fate->carried ? fnv_update(lanes[filled++].state, tail, length) : own;
		fate->key_bytes += length;
		if (i && entry->cubin != import->manifest.entries[entries[i - 1]].cubin)
			cubins++;
		fate->checksum = lanes[cubins].state;
	}
	return 0;
}

static int check_cubin(struct jw_error *err, struct import *import, const struct member_walk *walk,
					   uint32_t at)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	struct import_fate *fate = &import->fates[at];
	struct cubin_header cubin;
	char why[512];

	if (cubin_read(err, walk->bytes[entry->cubin],
				   (size_t)import->manifest.members[entry->cubin].size_bytes, &cubin)) {
		error_prefix(err, "%s: entry %016llx", source_name(import->source),
					 (unsigned long long)entry->key);
		return -1;
	}
	if (cubin.sm != entry->target.sm)
		return contradiction(err, import, at, "its cubin is for another architecture");
	if (cubin.relocatable != pack_entry_is_relocatable(entry))
		return contradiction(err, import, at, "its cubin is of another kind");
	if (fate->verdict == JW_IMPORT_REFUSED || judge_cubin(&cubin, import->system, why))
		return 0;
	fate->verdict = JW_IMPORT_REFUSED;
	return import_put_into_group(err, import, at, why);
}

static int check_members(struct jw_error *err, void *context, const struct member_walk *walk,
						 const uint32_t *entries, size_t count)
{
	struct import *import = context;

	for (size_t i = 0; i < count; i += MOST_TOGETHER)
		if (check_hashes(err, import, walk, entries + i,
						 count - i < MOST_TOGETHER ? count - i : MOST_TOGETHER))
			return -1;
	for (size_t i = 0; i < count; i++)
		if (check_cubin(err, import, walk, entries[i]))
			return -1;
	return 0;
}

int import_check_entries(struct jw_error *err, struct import *import, struct reader *reader)
{
	import->walk = (struct member_walk){
		.manifest = &import->manifest,
		.verify = true,
		.keep = manifest_content(&import->manifest) <= import->most_kept_bytes,
		.context = import,
		.cancel = import->options->cancel,
		.complete = check_members,
	};
	if (choose_system(err, import) || judge_by_manifest(err, import))
		return -1;
	return member_walk_pack(err, &import->walk, reader, source_name(import->source));
}
