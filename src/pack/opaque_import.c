/* Imports an opaque pack into the directory of the driver that it was made for. */

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "pack/driver_text.h"
#include "pack/import.h"
#include "pack/judge.h"
#include "pack/opaque_place.h"

/* Reads one member after the other and checks each against its name; `bytes` is valid during the
 * call. */
static int for_each(struct jw_error *err, const struct import *import, struct reader *reader,
					int (*take)(struct jw_error *err, void *context, uint32_t member,
								const uint8_t *bytes),
					void *context)
{
	const struct jw_import_options *options = import->options;
	const struct pack_manifest *manifest = &import->manifest;
	int result = 0;

	for (uint32_t i = 0; !result && i < manifest->member_count; i++) {
		const struct pack_member *member = &manifest->members[i];
		uint8_t *bytes = mem_resize(err, NULL, (size_t)member->size_bytes);

		result = !bytes || cancel_check(err, &options->cancel) ||
						 reader_checked_member(err, reader, member, bytes)
					 ? -1
					 : 0;
		if (!result && take)
			result = take(err, context, i, bytes);
		mem_free(bytes);
	}
	return result ? -1 : reader_end(err, reader);
}

static int check_tree(struct jw_error *err, struct import *import, struct reader *reader)
{
	return for_each(err, import, reader, NULL, NULL);
}

/* ---- whether it may */

static int decide_tree(struct jw_error *err, struct import *import)
{
	const struct pack_manifest *manifest = &import->manifest;
	struct jw_import_result *result = import->result;
	struct jw_import_group *group = mem_alloc(err, sizeof *group);
	struct judgement judgement;

	if (!group)
		return -1;
	result->groups = group;
	result->group_count = 1;
	judge_opaque(manifest, import->system, &judgement);
	group->verdict = JW_IMPORT_NEW;
	if (!judgement.refused && place_judge(err, import, &group->verdict, judgement.why))
		return -1;
	text_copy(group->why, sizeof group->why, judgement.why);
	if (group->why[0])
		group->verdict = JW_IMPORT_REFUSED;
	if (manifest->target_count)
		(void)jw_target_sm(group->target, manifest->targets[0]);
	(void)pack_driver_text(group->driver, &manifest->drivers[0]);
	result->opaque = true;
	result->entries = group->entries = manifest->tree_count;
	if (group->verdict == JW_IMPORT_REFUSED) {
		result->refused = result->entries;
		return 0;
	}
	if (group->verdict == JW_IMPORT_THERE) {
		result->there = result->entries;
		return 0;
	}
	result->accepted = import->wanted = result->entries;
	for (size_t i = 0; i < manifest->tree_count; i++)
		if (manifest->tree[i].member != PACK_EMPTY)
			result->accepted_bytes += manifest->members[manifest->tree[i].member].size_bytes;
	import->new_bytes = result->accepted_bytes;
	return 0;
}

struct planting {
	const struct pack_manifest *manifest;
	const char *root;
	uint32_t *first,
		*next; /* files of a member: first[member], then next[leaf]; PACK_EMPTY ends the list */
};

static int write_leaf(struct jw_error *err, const struct planting *planting, uint32_t leaf,
					  const uint8_t *bytes, size_t size)
{
	char *path = os_join(err, planting->root, planting->manifest->tree[leaf].path);
	struct os_file *file = NULL;
	int result = -1;

	if (path && !os_make_parent(err, path, 0700) && !os_file_open(err, path, OS_OPEN_CREATE, &file))
		result = size ? os_file_write(err, file, 0, bytes, size) : 0;
	os_file_close(file);
	mem_free(path);
	return result;
}

static int plant(struct jw_error *err, void *context, uint32_t member, const uint8_t *bytes)
{
	const struct planting *planting = context;
	size_t size = (size_t)planting->manifest->members[member].size_bytes;
	int result = 0;

	for (uint32_t leaf = planting->first[member]; !result && leaf != PACK_EMPTY;
		 leaf = planting->next[leaf])
		result = write_leaf(err, planting, leaf, bytes, size);
	return result;
}

static int list_leaves(struct jw_error *err, struct planting *planting)
{
	const struct pack_manifest *manifest = planting->manifest;

	planting->first = mem_array(err, manifest->member_count, sizeof *planting->first);
	planting->next = mem_array(err, manifest->tree_count, sizeof *planting->next);
	if (!planting->first || !planting->next)
		return -1;
	for (size_t i = 0; i < manifest->member_count; i++)
		planting->first[i] = PACK_EMPTY;
	for (uint32_t i = 0; i < manifest->tree_count; i++) {
		uint32_t member = manifest->tree[i].member;

		if (member == PACK_EMPTY) {
			if (write_leaf(err, planting, i, NULL, 0))
				return -1;
			continue;
		}
		planting->next[i] = planting->first[member];
		planting->first[member] = i;
	}
	return 0;
}

static int plant_tree(struct jw_error *err, struct import *import)
{
	struct pack_manifest again = {0};
	struct reader *reader = NULL;
	struct opaque_place place = {0};
	struct planting planting = {.manifest = &import->manifest};
	int result = -1;

	if (place_open(err, import, &place))
		goto done;
	planting.root = place.root;
	/* The source compares every block with the first reading, so the manifest is the same. */
	if (!list_leaves(err, &planting) && !reader_open(err, import->source, &again, &reader) &&
		!for_each(err, import, reader, plant, &planting))
		result = place_take(err, import, &place);
	if (!result) {
		import->result->added = import->result->entries;
		import->result->added_bytes = import->result->accepted_bytes;
	}
done:
	reader_close(reader);
	manifest_free(&again);
	mem_free(planting.first);
	mem_free(planting.next);
	place_close(&place);
	return result;
}

/* The new directory is made beside the one that it replaces. */
static int try_tree(struct jw_error *err, struct import *import)
{
	char *above = os_dir_name(err, import->result->path);
	int result = above ? os_may_make(err, above) : -1;

	mem_free(above);
	return result;
}

const struct import_form import_of_tree = {
	.check = check_tree,
	.decide = decide_tree,
	.try_insert = try_tree,
	.insert = plant_tree,
	.as_account = true,
};
