/* Imports an opaque pack into the directory of the driver that it was made for. */

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/platform.h"
#include "pack/driver_text.h"
#include "pack/gather.h"
#include "pack/import.h"
#include "pack/judge.h"

/* ---- where it is written: a new directory beside the cache, which replaces the cache when it is
 * complete */

/* CACHE.jitwarm-01234567, with a lock beside it that tells other processes that it is in use. */
struct opaque_place {
	char *root, *lock_path;
	struct os_file *lock; /* NULL where files cannot be locked */
};

static const char mark[] = ".jitwarm-", lock_end[] = ".lock";
enum { NUMBER = 8, OLD_S = 3600, MOST_TRIES = 100, MOST_DEPTH = 16 };

/* ---- the present state */

static bool has_same_files(const struct pack_manifest *a, const struct pack_manifest *b)
{
	if (a->tree_count != b->tree_count)
		return false;
	for (size_t i = 0; i < a->tree_count; i++) {
		const struct pack_leaf *left = &a->tree[i], *right = &b->tree[i];
		bool empty = left->member == PACK_EMPTY;

		if (strcmp(left->path, right->path) != 0 || empty != (right->member == PACK_EMPTY) ||
			(!empty &&
			 !digest_equal(&a->members[left->member].digest, &b->members[right->member].digest)))
			return false;
	}
	return true;
}

/* *ret_same: equal to the state after a run that was killed at its end. -1: out of memory. */
static int is_cache_there(struct jw_error *err, const struct import *import, const char *path,
						  bool *ret_same)
{
	const struct jw_export_options options = {.size = sizeof options, .system = import->system};
	struct pack_manifest manifest = {0};
	size_t *sources = NULL;
	struct jw_error why = {0};

	*ret_same = !opaque_gather(&why, &options, path, &manifest, &sources) &&
				has_same_files(&import->manifest, &manifest);
	manifest_free(&manifest);
	mem_free(sources);
	return error_if_memory(err, &why);
}

/* A missing or empty directory accepts the pack. A directory with exactly the pack's files needs
 * nothing (JW_IMPORT_THERE). For any other, *why says that it is in the way. */
static int place_judge(struct jw_error *err, const struct import *import,
					   enum jw_import_verdict *ret_verdict, char why[512])
{
	const char *path = import->result->path;
	struct jw_error why_not = {0};
	struct os_names names;
	bool same = false;
	size_t count;

	if (os_list(&why_not, path, &names))
		return error_unless_missing(err, &why_not);
	count = names.count;
	os_names_free(&names);
	if (count && is_cache_there(err, import, path, &same))
		return -1;
	if (same)
		*ret_verdict = JW_IMPORT_THERE;
	else if (count)
		(void)snprintf(
			why, 512,
			"it replaces a whole directory, and %.300s is not empty: end the programs that "
			"use it and move it away, or name another with --cache",
			path);
	return 0;
}

/* ---- leftovers of killed imports */

/* Removes the lock's file (NULL: it stays) and unlocks it. Windows removes no open file; elsewhere
 * the file must not go while another process could lock it. */
static void release(struct os_file *lock, const char *path)
{
	const bool windows = !strcmp(os_name, "windows");

	if (path && !windows)
		(void)os_remove(NULL, path);
	os_file_close(lock);
	if (path && windows)
		(void)os_remove(NULL, path);
}

/* The lock is held from before the directory is made until it is removed: a process that cannot
 * take it leaves the directory alone. */
static void sweep_place(const char *root)
{
	char *lock_path = mem_printf(NULL, "%s%s", root, lock_end);
	struct os_file *lock = NULL;
	struct jw_error why = {0};
	bool dead = false;

	if (!lock_path)
		return;
	/* A lock that cannot be looked at is taken for held. */
	if (os_file_open(&why, lock_path, OS_OPEN_UPDATE, &lock))
		dead = !error_unless_missing(NULL, &why);
	else if (os_file_lock(NULL, lock, true, &dead))
		dead = os_is_older(lock_path, OLD_S);
	if (dead && os_remove_tree(NULL, root))
		dead = false;
	release(lock, dead ? lock_path : NULL);
	mem_free(lock_path);
}

/* "NAME.jitwarm-01234567", or that and ".lock". */
static bool is_place(const char *name, const char *base)
{
	size_t length = strlen(base), hex;

	if (!text_starts(name, base) || !text_starts(name + length, mark))
		return false;
	name += length + sizeof mark - 1;
	hex = strspn(name, "0123456789abcdef");
	return hex == NUMBER && (!name[hex] || !strcmp(name + hex, lock_end));
}

static void sweep_staged(const char *cache)
{
	const char *base = os_base_name(cache);
	char *above = os_dir_name(NULL, cache);
	struct os_names names;

	if (!above || os_list(NULL, above, &names)) {
		mem_free(above);
		return;
	}
	for (size_t i = 0; i < names.count; i++) {
		char *root = is_place(names.items[i], base) ? os_join(NULL, above, names.items[i]) : NULL;

		if (root && text_ends(root, lock_end))
			root[strlen(root) - strlen(lock_end)] = '\0';
		if (root)
			sweep_place(root);
		mem_free(root);
	}
	os_names_free(&names);
	mem_free(above);
}

/* ---- a new one */

/* False: another import has swept the lock's file before it was locked. */
static bool hold(struct opaque_place *place)
{
	bool held = false;

	if (os_file_lock(NULL, place->lock, true, &held)) {
		os_file_close(place->lock);
		place->lock = NULL;
		return true;
	}
	return held && os_exists(place->lock_path);
}

static int open_one(struct jw_error *err, const char *cache, struct opaque_place *place,
					bool *ret_held)
{
	place->root = mem_printf(err, "%s%s%08x", cache, mark, (unsigned)randombytes_random());
	place->lock_path = place->root ? mem_printf(err, "%s%s", place->root, lock_end) : NULL;
	if (!place->lock_path || os_file_open(err, place->lock_path, OS_OPEN_CREATE, &place->lock))
		return -1;
	*ret_held = hold(place);
	return *ret_held ? os_make_dirs(err, place->root, 0700) : 0;
}

static void place_close(struct opaque_place *place)
{
	if (place->root)
		(void)os_remove_tree(NULL, place->root);
	release(place->lock, place->lock_path);
	mem_free(place->root);
	mem_free(place->lock_path);
	*place = (struct opaque_place){0};
}

/* Makes the directory and removes leftovers of killed imports. place_close removes it unless it has
 * become the cache; {0}, never opened, is valid for place_close. */
static int place_open(struct jw_error *err, const struct import *import,
					  struct opaque_place *ret_place)
{
	const char *cache = import->result->path;
	int result = os_make_parent(err, cache, 0700);
	struct opaque_place place = {0};
	bool held = false;

	if (!result)
		sweep_staged(cache);
	for (int tries = 0; !result && !held; tries++) {
		place_close(&place);
		result = tries == MOST_TRIES
					 ? error_set(err, JW_ERR_BUSY, "%s: other imports are running; try again later",
								 cache)
					 : open_one(err, cache, &place, &held);
	}
	if (result)
		place_close(&place);
	else
		*ret_place = place;
	return result;
}

/* ---- into its place */

struct heir {
	struct os_stat like;
	bool other_owner;
};

/* Accounts that may read the directory have to write to its index, as a driver does to look up an
 * entry (cache/index_lock.c). */
static int settle_owner(struct jw_error *err, const struct heir *heir, const char *path,
						bool folder)
{
	const uint32_t shared = heir->like.mode & 055;
	uint32_t mode = folder ? 0700 | (heir->like.mode & 077) : 0600 | (shared & 044);

	if (!folder && !strcmp(os_base_name(path), "index"))
		mode |= (shared & 044) >> 1;
	if (shared && os_set_mode(err, path, mode))
		return -1;
	return heir->other_owner ? os_set_owner(err, path, heir->like.owner, heir->like.group) : 0;
}

static int settle_tree(struct jw_error *err, const struct heir *heir, const char *path, int depth)
{
	struct os_names names;
	int result = 0;

	if (depth > MOST_DEPTH || os_list(err, path, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		char *below = os_join(err, path, names.items[i]);

		result = !below                           ? -1
				 : names.kinds[i] == OS_DIRECTORY ? settle_tree(err, heir, below, depth + 1)
												  : settle_owner(err, heir, below, false);
		mem_free(below);
	}
	os_names_free(&names);
	return result ? -1 : settle_owner(err, heir, path, true);
}

/* Makes it the cache, with the owner and mode of the empty one that it replaces.
 * Keeps files that a driver has written meanwhile: no system replaces a directory that is not
 * empty. */
static int place_take(struct jw_error *err, const struct import *import, struct opaque_place *place)
{
	const char *path = import->result->path;
	struct heir heir = {.like = {.mode = import->new_mode}};
	struct jw_error why = {0};
	struct os_stat ours;
	const bool there = !os_stat(&why, path, &heir.like);

	if ((!there && error_unless_missing(err, &why)) || os_stat(err, place->root, &ours))
		return -1;
	heir.other_owner = there && (ours.owner != heir.like.owner || ours.group != heir.like.group);
	if (settle_tree(err, &heir, place->root, 0))
		return -1;
	if (there && os_remove_empty_dir(err, path))
		return error_prefix(err, "the new directory cannot take its place");
	return os_rename(err, place->root, path);
}

/* ---- its members */

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
