/* From a cache directory of unknown form to the manifest of a pack. */
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/cache_files.h"
#include "os/file.h"
#include "os/platform.h"
#include "pack/driver_text.h"
#include "pack/gather.h"
#include "pack/opaque_manifest.h"

enum { MOST_DEPTH = 8 };

struct gathering {
	const struct jw_export_options *options;
	const char *dir;
	struct pack_manifest *manifest;
	size_t *sources;
	size_t tree_capacity, member_capacity, source_capacity;
	struct set known; /* digest's lead → member */
	struct buf bytes;
};

static int walk_folder(struct jw_error *err, struct gathering *work, const char *below, int depth);

/* Takes over `path`, which is relative, with '/'. */
static int add_leaf(struct jw_error *err, struct gathering *work, char *path)
{
	struct pack_manifest *manifest = work->manifest;

	if (VEC_ROOM(err, manifest->tree, work->tree_capacity, manifest->tree_count,
				 PACK_MOST_MEMBERS)) {
		mem_free(path);
		return -1;
	}
	manifest->tree[manifest->tree_count++] = (struct pack_leaf){path, PACK_EMPTY};
	return 0;
}

static int walk_name(struct jw_error *err, struct gathering *work, const char *below,
					 const char *name, enum os_kind kind, int depth)
{
	char *path = *below ? mem_printf(err, "%s/%s", below, name) : mem_string(err, name);
	int result = -1;

	if (!path)
		return -1;
	if (!opaque_path_is_sound(path) || kind == OS_OTHER || depth == MOST_DEPTH)
		error_set(
			err, JW_ERR_UNSUPPORTED,
			"%s: “%.200s” cannot be in a pack, which takes folders and files with plain names",
			work->dir, path);
	else if (kind == OS_REGULAR)
		return add_leaf(err, work, path);
	else
		result = walk_folder(err, work, path, depth + 1);
	mem_free(path);
	return result;
}

static int walk_folder(struct jw_error *err, struct gathering *work, const char *below, int depth)
{
	char *folder = *below ? os_join(err, work->dir, below) : mem_string(err, work->dir);
	struct os_names names;
	int result = folder ? os_list(err, folder, &names) : -1;

	mem_free(folder);
	if (result)
		return -1;
	for (size_t i = 0; !result && i < names.count; i++)
		if (depth || !text_starts(names.items[i], CACHE_STAGING_PREFIX))
			result = walk_name(err, work, below, names.items[i], names.kinds[i], depth);
	os_names_free(&names);
	return result;
}

static int compare_member_paths(const void *a, const void *b)
{
	const struct pack_leaf *left = a, *right = b;

	return opaque_path_compare(left->path, right->path);
}

static int add_opaque_member(struct jw_error *err, struct gathering *work, size_t leaf)
{
	struct pack_manifest *manifest = work->manifest;
	struct pack_member member = {.kind = PACK_FILE, .size_bytes = work->bytes.size};
	const size_t count = manifest->member_count;
	uint32_t *at = &manifest->tree[leaf].member;

	digest_of(&member.digest, work->bytes.data, work->bytes.size);
	if (VEC_ROOM(err, manifest->members, work->member_capacity, count, PACK_MOST_MEMBERS) ||
		VEC_ROOM(err, work->sources, work->source_capacity, count, PACK_MOST_MEMBERS) ||
		manifest_add_member(err, manifest, &work->known, &member, at))
		return -1;
	if (*at == count)
		work->sources[count] = leaf;
	return 0;
}

static int read_leaf_bytes(struct jw_error *err, const char *dir, const char *path,
						   struct buf *bytes)
{
	char *file = os_join(err, dir, path);
	int result = file ? os_read_file(err, file, CACHE_MOST_ENTRY, bytes) : -1;

	mem_free(file);
	return result;
}

static int hash_all(struct jw_error *err, struct gathering *work)
{
	const struct jw_export_options *options = work->options;
	struct pack_manifest *manifest = work->manifest;
	const char *both = opaque_file_and_folder(manifest->tree, manifest->tree_count);
	int result = 0;

	if (both)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: “%.200s” and a folder differ in case alone: no pack can hold both",
						 work->dir, both);
	for (size_t i = 0; !result && i < manifest->tree_count; i++) {
		if (cancel_check(err, &options->cancel))
			return -1;
		if (i && !compare_member_paths(&manifest->tree[i - 1], &manifest->tree[i]))
			return error_set(err, JW_ERR_UNSUPPORTED, "%s: “%.200s” is there twice", work->dir,
							 manifest->tree[i].path);
		result = read_leaf_bytes(err, work->dir, manifest->tree[i].path, &work->bytes);
		if (!result && work->bytes.size)
			result = add_opaque_member(err, work, i);
		buf_free(&work->bytes);
	}
	return result;
}

static int name_machine(struct jw_error *err, struct gathering *work)
{
	const struct jw_system *system = work->options->system;
	static const char unknown[] =
		"an opaque pack is for one driver, and this machine's driver is unknown";
	struct pack_manifest *manifest = work->manifest;

	if (!system)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s", unknown);
	manifest->opaque = true;
	TEXT_COPY(manifest->os, os_name);
	manifest->drivers = mem_array(err, 1, sizeof *manifest->drivers);
	manifest->targets = mem_array(err, system->gpu_count, sizeof *manifest->targets);
	if (!manifest->drivers || !manifest->targets)
		return -1;
	pack_driver_of_stamp(&manifest->drivers[0], system->driver.stamp, system);
	manifest->driver_count = 1;
	if (!manifest->drivers[0].stamp[0] && !manifest->drivers[0].release[0])
		return error_set(err, JW_ERR_UNSUPPORTED, "%s", unknown);
	for (size_t i = 0; i < system->gpu_count; i++)
		manifest->target_count = jw_target_add(manifest->targets, manifest->target_count,
											   system->gpu_count, system->gpus[i].target);
	return 0;
}

int opaque_gather(struct jw_error *err, const struct jw_export_options *options, const char *dir,
				  struct pack_manifest *manifest, size_t **ret_sources)
{
	struct gathering work = {.options = options, .dir = dir, .manifest = manifest};
	int result = -1;

	if (name_machine(err, &work) || walk_folder(err, &work, "", 0))
		goto done;
	if (!manifest->tree_count) {
		error_set(err, JW_ERR_NOT_FOUND, "%s: holds nothing to export", dir);
		goto done;
	}
	qsort(manifest->tree, manifest->tree_count, sizeof *manifest->tree, compare_member_paths);
	if (hash_all(err, &work))
		goto done;
	*ret_sources = work.sources;
	work.sources = NULL;
	result = 0;
done:
	mem_free(work.sources);
	set_free(&work.known);
	return result;
}

int opaque_take(struct jw_error *err, const char *dir, const struct pack_manifest *manifest,
				size_t member, size_t source, struct buf *bytes)
{
	const char *path = manifest->tree[source].path;
	struct digest digest;

	buf_free(bytes);
	if (read_leaf_bytes(err, dir, path, bytes))
		return -1;
	digest_of(&digest, bytes->data, bytes->size);
	return digest_equal(&digest, &manifest->members[member].digest)
			   ? 0
			   : error_set(err, JW_ERR_BUSY,
						   "%s: %s was changed while it was packed: please try again", dir, path);
}
