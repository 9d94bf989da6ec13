/* merge_packs: each member and each entry of several packs once, with all manifest data. */
#include "pack/writer.h"

#include <string.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "os/file.h"
#include "pack/pack_tar.h"
#include "pack/reader.h"

struct part {
	const char *path;
	struct source *source;
	struct reader *reader;
	struct pack_manifest manifest;
	bool *wanted;      /* for each entry: no newer pack has it */
	bool *needed;      /* for each member: a wanted entry needs it */
	bool *taken;       /* for each member: it is copied from this pack */
	uint32_t *members; /* the member's index in the merged pack */
	uint32_t *drivers;
};

struct merge {
	struct part *parts;
	size_t count;
	struct pack_manifest whole;
	struct set keys;    /* wanted entries */
	struct set digests; /* the first bytes of members' digests */
	struct buf member;
};

static int open_part(struct jw_error *err, struct part *part)
{
	if (source_open(err, part->path, &part->source) ||
		reader_open(err, part->source, &part->manifest, &part->reader))
		return -1;
	part->wanted = mem_array(err, part->manifest.entry_count, sizeof *part->wanted);
	part->needed = mem_array(err, part->manifest.member_count, sizeof *part->needed);
	part->taken = mem_array(err, part->manifest.member_count, sizeof *part->taken);
	part->members = mem_array(err, part->manifest.member_count, sizeof *part->members);
	part->drivers = mem_array(err, part->manifest.driver_count, sizeof *part->drivers);
	return part->wanted && part->needed && part->taken && part->members && part->drivers ? 0 : -1;
}

static void close_part(struct part *part)
{
	reader_close(part->reader);
	source_close(part->source);
	manifest_free(&part->manifest);
	mem_free(part->wanted);
	mem_free(part->needed);
	mem_free(part->taken);
	mem_free(part->members);
	mem_free(part->drivers);
	*part = (struct part){0};
}

static int pick_entries(struct jw_error *err, struct merge *merge, struct part *part)
{
	for (size_t i = 0; i < part->manifest.entry_count; i++) {
		const struct pack_entry *entry = &part->manifest.entries[i];

		if (set_has(&merge->keys, entry->key))
			continue;
		if (set_add(err, &merge->keys, entry->key, i))
			return -1;
		part->wanted[i] = part->needed[entry->ptx] = part->needed[entry->cubin] = true;
	}
	return 0;
}

static int grow_merge(struct jw_error *err, struct merge *merge)
{
	struct pack_manifest *whole = &merge->whole;
	size_t members = 0, entries = 0;

	for (size_t i = 0; i < merge->count; i++) {
		members += merge->parts[i].manifest.member_count;
		entries += merge->parts[i].manifest.entry_count;
	}
	memcpy(whole->os, merge->parts[0].manifest.os, sizeof whole->os);
	whole->drivers = mem_array(err, PACK_MOST_DRIVERS, sizeof *whole->drivers);
	whole->members = mem_array(err, members, sizeof *whole->members);
	whole->entries = mem_array(err, entries, sizeof *whole->entries);
	return whole->drivers && whole->members && whole->entries ? 0 : -1;
}

static int add_drivers(struct jw_error *err, struct merge *merge, struct part *part)
{
	struct pack_manifest *whole = &merge->whole;

	for (size_t i = 0; i < part->manifest.driver_count; i++) {
		const struct pack_driver *driver = &part->manifest.drivers[i];
		uint32_t at = 0;

		while (at < whole->driver_count && strcmp(whole->drivers[at].stamp, driver->stamp) != 0)
			at++;
		if (at == PACK_MOST_DRIVERS)
			return error_set(err, JW_ERR_LIMIT, "more than %d drivers for one pack",
							 PACK_MOST_DRIVERS);
		/* The same driver; one manifest may lack its release. */
		if (at == whole->driver_count)
			whole->drivers[whole->driver_count++] = *driver;
		else if (!whole->drivers[at].release[0])
			whole->drivers[at] = *driver;
		part->drivers[i] = at;
	}
	return 0;
}

static int add_members(struct jw_error *err, struct merge *merge, struct part *part)
{
	struct pack_manifest *whole = &merge->whole;

	for (size_t i = 0; i < part->manifest.member_count; i++) {
		const size_t count = whole->member_count;

		if (!part->needed[i])
			continue;
		if (manifest_add_member(err, whole, &merge->digests, &part->manifest.members[i],
								&part->members[i]))
			return -1;
		part->taken[i] = part->members[i] == count;
	}
	return 0;
}

static int add_entries(struct jw_error *err, struct merge *merge, const struct part *part)
{
	struct pack_manifest *whole = &merge->whole;

	for (size_t i = 0; i < part->manifest.entry_count; i++) {
		struct pack_entry entry = part->manifest.entries[i];

		if (!part->wanted[i])
			continue;
		entry.driver = part->drivers[entry.driver];
		entry.ptx = part->members[entry.ptx];
		entry.cubin = part->members[entry.cubin];
		entry.options = mem_string(err, entry.options);
		if (!entry.options)
			return -1;
		whole->entries[whole->entry_count++] = entry;
	}
	return 0;
}

static int make_merged_manifest(struct jw_error *err, struct merge *merge)
{
	struct pack_manifest *whole = &merge->whole;

	if (grow_merge(err, merge))
		return -1;
	for (size_t i = merge->count; i-- > 0;)
		if (pick_entries(err, merge, &merge->parts[i]))
			return -1;
	for (size_t i = 0; i < merge->count; i++) {
		struct part *part = &merge->parts[i];

		if (strcmp(part->manifest.os, whole->os) != 0)
			return error_set(err, JW_ERR_UNSUPPORTED, "%s: is for another system than %s",
							 part->path, merge->parts[0].path);
		if (add_drivers(err, merge, part) || add_members(err, merge, part) ||
			add_entries(err, merge, part))
			return -1;
	}
	return whole->entry_count > PACK_MOST_ENTRIES
			   ? error_set(err, JW_ERR_LIMIT, "more than %d entries for one pack",
						   PACK_MOST_ENTRIES)
			   : 0;
}

/* Members that are not copied are read too: they lie between the others. */
static int copy_member(struct jw_error *err, struct merge *merge, struct part *part, size_t i,
					   struct writer *writer)
{
	const struct pack_member *member = &part->manifest.members[i];
	char name[TAR_MOST_NAME + 1];

	buf_clear(&merge->member);
	if (buf_reserve(err, &merge->member, (size_t)member->size_bytes) ||
		reader_checked_member(err, part->reader, member, merge->member.data))
		return -1;
	return part->taken[i] ? writer_member(err, writer, pack_member_name(name, member),
										  merge->member.data, member->size_bytes)
						  : 0;
}

static int copy_content(struct jw_error *err, void *context, struct writer *writer)
{
	struct merge *merge = context;

	for (size_t i = 0; i < merge->count; i++) {
		struct part *part = &merge->parts[i];

		for (size_t k = 0; k < part->manifest.member_count; k++)
			if (copy_member(err, merge, part, k, writer))
				return -1;
		if (reader_end(err, part->reader))
			return -1;
		/* The compressor's window is as large as the content. */
		reader_close(part->reader);
		part->reader = NULL;
	}
	return 0;
}

int merge_packs(struct jw_error *err, char *const *paths, size_t count, const char *output,
				struct written *ret_written)
{
	struct merge merge = {.parts = mem_array(err, count, sizeof *merge.parts), .count = count};
	struct writer_options options = {
		.context = &merge, .content = copy_content, .level = WRITER_USUAL};
	int result = merge.parts && count ? 0 : -1;

	merge.member.most = (size_t)1 << 30; /* no member is larger */
	for (size_t i = 0; !result && i < count; i++) {
		merge.parts[i].path = paths[i];
		result = open_part(err, &merge.parts[i]);
	}
	if (!result)
		result = make_merged_manifest(err, &merge);
	if (!result)
		result = os_file_open(err, output, OS_OPEN_CREATE, &options.file) ||
						 os_file_truncate(err, options.file, 0) ||
						 writer_pack(err, &options, &merge.whole, ret_written)
					 ? -1
					 : 0;
	os_file_close(options.file);
	for (size_t i = 0; merge.parts && i < count; i++)
		close_part(&merge.parts[i]);
	mem_free(merge.parts);
	manifest_free(&merge.whole);
	set_free(&merge.keys);
	set_free(&merge.digests);
	buf_free(&merge.member);
	return result;
}
