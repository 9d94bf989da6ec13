#include <jitwarm/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>
#include <uv.h>

#include <jitwarm/pack.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/index.h"
#include "os/file.h"
#include "pack/driver_text.h"
#include "pack/reader.h"
#include "store/refill.h"
#include "store/store_merge.h"
#include "store/store_pack.h"

enum { MOST_PACKS = 10000 };

/* A minute for another run to keep what it has compiled. */
enum { TRY_EVERY_MS = 100, MOST_TRIES = 600 };

static const char extension[] = STORE_EXTENSION, unfinished[] = STORE_UNFINISHED;

/* After a prime a few packs may stay as they are: making one of them takes a moment. */
enum { FEW_PACKS = 16 };

static char *store_path(struct jw_error *err, const char *state_dir)
{
	if (!state_dir) {
		error_set(err, JW_ERR_NOT_FOUND, "this account has no folder for a store (JITWARM_STATE)");
		return NULL;
	}
	return os_join(err, state_dir, "store");
}

/* ---- one pack */

int store_read_manifest(struct jw_error *err, const char *path, struct pack_manifest *ret_manifest)
{
	struct source *source = NULL;
	struct reader *reader = NULL;
	int result = -1;

	if (!source_open(err, path, &source))
		result = reader_open(err, source, ret_manifest, &reader);
	/* The store fills a cache when the files may be gone. */
	if (!result && (ret_manifest->thin || ret_manifest->opaque)) {
		manifest_free(ret_manifest);
		result = error_set(err, JW_ERR_UNSUPPORTED,
						   "%s: is a thin or an opaque pack, which no store keeps", path);
	}
	reader_close(reader);
	source_close(source);
	return result;
}

static int describe_pack(struct jw_error *err, const char *path,
						 const struct jw_store_options *options, struct jw_store_pack *pack)
{
	struct pack_manifest manifest = {0};
	struct jw_error why = {0};
	struct os_stat stat = {0};

	if (os_stat(&why, path, &stat) || store_read_manifest(&why, path, &manifest) ||
		(options->verify && store_verify_pack(&why, path, &options->cancel))) {
		TEXT_COPY(pack->damage, why.message);
		pack->broken = why.code == JW_ERR_FORMAT || why.code == JW_ERR_LIMIT;
	} else {
		pack->entries = manifest.entry_count;
		pack->split = manifest_split(&manifest);
		pack->content_bytes = manifest_content(&manifest);
		(void)pack_targets_text(pack->targets, &manifest);
		(void)pack_drivers_text(pack->drivers, &manifest);
	}
	pack->bytes = stat.size_bytes;
	pack->mtime_ns = stat.mtime_ns;
	manifest_free(&manifest);
	return why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED ? error_copy(err, &why) : 0;
}

/* ---- all of them */

static int by_age(const void *a, const void *b)
{
	const struct jw_store_pack *left = a, *right = b;

	if (left->mtime_ns != right->mtime_ns)
		return left->mtime_ns < right->mtime_ns ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int list_packs(struct jw_error *err, const struct jw_store_options *options,
					  struct jw_store *store)
{
	struct os_names names;
	size_t capacity = 0;
	int result = 0;

	if (!os_exists(store->path))
		return 0;
	if (os_list(err, store->path, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		const char *name = names.items[i];
		struct jw_store_pack *pack;
		char *path;

		if (!text_ends(name, extension) || strlen(name) >= sizeof store->packs->name ||
			names.kinds[i] != OS_REGULAR)
			continue;
		if (VEC_ROOM(err, store->packs, capacity, store->count, MOST_PACKS)) {
			result = -1;
			break;
		}
		pack = &store->packs[store->count++];
		*pack = (struct jw_store_pack){0};
		TEXT_COPY(pack->name, name);
		path = os_join(err, store->path, name);
		result = path ? describe_pack(err, path, options, pack) : -1;
		store->bytes += pack->bytes;
		mem_free(path);
	}
	os_names_free(&names);
	if (store->count)
		qsort(store->packs, store->count, sizeof *store->packs, by_age);
	return result;
}

int jw_store_open(struct jw_error *err, const struct jw_store_options *options,
				  struct jw_store **ret_store)
{
	struct jw_store *store;

	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	store = mem_alloc(err, sizeof *store);
	if (!store)
		return -1;
	store->path = store_path(err, options->state_dir);
	if (!store->path || list_packs(err, options, store)) {
		jw_store_free(store);
		return -1;
	}
	*ret_store = store;
	return 0;
}

void jw_store_free(struct jw_store *store)
{
	if (!store)
		return;
	mem_free(store->path);
	mem_free(store->packs);
	mem_free(store);
}

/* ---- keeping */

struct known {
	struct set keys; /* names of entries that packs of the store have */
};

static bool is_unknown(void *context, uint64_t key)
{
	size_t cursor = 0;

	return set_find(&((const struct known *)context)->keys, key, &cursor) == SET_NONE;
}

static int learn_pack(struct jw_error *err, struct known *known, const char *path)
{
	struct pack_manifest manifest = {0};
	int result = 0;

	/* One that cannot be read has nothing. */
	if (store_read_manifest(NULL, path, &manifest))
		return 0;
	for (size_t i = 0; !result && i < manifest.entry_count; i++)
		if (is_unknown(known, manifest.entries[i].key))
			result = set_add(err, &known->keys, manifest.entries[i].key, i);
	manifest_free(&manifest);
	return result;
}

static int learn_store(struct jw_error *err, const struct jw_store *store, struct known *known)
{
	int result = 0;

	for (size_t i = 0; !result && i < store->count; i++) {
		char *path =
			store->packs[i].damage[0] ? NULL : os_join(err, store->path, store->packs[i].name);

		result = path ? learn_pack(err, known, path) : 0;
		mem_free(path);
	}
	return result;
}

/* A new pack is named by what it holds: the same one twice is one. */
static int keep_target(struct jw_error *err, const struct jw_store_keep_options *how,
					   const struct jw_store *store, struct known *known, struct jw_target target,
					   size_t *entries)
{
	char sm[JW_TARGET_TEXT];
	char *path = os_join(err, store->path, unfinished), *named = NULL;
	const struct jw_export_options options = {.system = how->system,
											  .targets = &target,
											  .target_count = 1,
											  .output = path,
											  .cancel = how->cancel,
											  .context = known,
											  .wanted = is_unknown};
	struct jw_export_result made;
	struct jw_error why = {0};
	int result = -1;

	if (!path)
		return -1;
	if (jw_export(&why, &options, &made)) {
		result = why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
		goto done;
	}
	named = mem_printf(err, "%s/%s-%.16s%s", store->path, jw_target_sm(sm, target),
					   made.blake2b_512, extension);
	if (named && !os_rename(err, path, named)) {
		*entries += made.entries;
		result = 0;
	}
done:
	mem_free(path);
	mem_free(named);
	return result;
}

static bool is_repeated(const struct jw_system *system, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (system->gpus[i].target.sm == system->gpus[at].target.sm)
			return true;
	return false;
}

/* What runs that were killed have left: nobody else has the lock. */
static void sweep(const char *folder)
{
	struct os_names names;

	if (os_list(NULL, folder, &names))
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path =
			text_starts(names.items[i], unfinished) ? os_join(NULL, folder, names.items[i]) : NULL;

		if (path)
			(void)os_remove(NULL, path);
		mem_free(path);
	}
	os_names_free(&names);
}

/* One run keeps at a time, so that no two write the same file or keep the same entries. *ret_lock
 * is NULL where files cannot be locked. */
static int lock_store(struct jw_error *err, const char *state_dir, struct os_file **ret_lock)
{
	char *folder = store_path(err, state_dir), *path = folder ? os_join(err, folder, "lock") : NULL;
	struct os_file *file = NULL;
	bool held = false;
	int result = -1;

	if (!path || os_make_dirs(err, folder, 0700) || os_file_open(err, path, OS_OPEN_CREATE, &file))
		goto done;
	result = 0;
	for (int tries = 0; !result && !held; tries++) {
		if (os_file_lock(NULL, file, true, &held))
			break;
		if (!held && tries == MOST_TRIES)
			result = error_set(err, JW_ERR_BUSY, "%s: another jitwarm is at it", folder);
		else if (!held)
			uv_sleep(TRY_EVERY_MS);
	}
	if (held)
		sweep(folder);
	if (held)
		*ret_lock = file;
	else
		os_file_close(file);
done:
	mem_free(path);
	mem_free(folder);
	return result;
}

static int sweep_packs(struct jw_error *err, struct jw_store *store, uint64_t most_bytes,
					   struct jw_store_swept *swept)
{
	uint64_t bytes = store->bytes;
	size_t kept = 0;
	int result = 0;

	for (size_t i = 0; i < store->count; i++) {
		const struct jw_store_pack *pack = &store->packs[i];
		char *path;

		if (result || (!pack->broken && bytes <= most_bytes)) {
			store->packs[kept++] = *pack;
			continue;
		}
		path = os_join(err, store->path, pack->name);
		result = path ? os_remove(err, path) : -1;
		mem_free(path);
		swept->removed += !result;
		swept->removed_bytes += result ? 0 : pack->bytes;
		bytes -= result ? 0 : pack->bytes;
	}
	store->count = kept;
	return result;
}

/* Between lock_store and the end of the lock. */
static int collect_garbage(struct jw_error *err, const char *state_dir, uint64_t most_bytes,
						   size_t few, struct jw_store_swept *ret_swept)
{
	struct jw_store_swept swept = {0};
	struct jw_store *store = NULL;
	int result;

	if (jw_store_open(err, &(struct jw_store_options){.state_dir = state_dir}, &store))
		return -1;
	result = sweep_packs(err, store, most_bytes, &swept) ||
					 store_merge(err, store, few, &swept.merged, &swept.made)
				 ? -1
				 : 0;
	if (!result)
		*ret_swept = swept;
	jw_store_free(store);
	return result;
}

int jw_store_keep(struct jw_error *err, const struct jw_store_keep_options *options,
				  size_t *ret_entries)
{
	const struct jw_system *system = options->system;
	const struct jw_store_options where = {.state_dir = system->state_dir};
	uint64_t most_bytes = options->most_bytes ? options->most_bytes : JW_STORE_DEFAULT_BYTES;
	struct jw_store *store = NULL;
	struct os_file *lock = NULL;
	struct known known = {0};
	struct jw_store_swept swept;
	size_t entries = 0;
	int result = -1;

	if (!system->cache.path || !system->driver.stamp[0] ||
		system->driver.trust == JW_TRUST_OPAQUE) {
		*ret_entries = 0;
		return 0;
	}
	if (lock_store(err, system->state_dir, &lock) || jw_store_open(err, &where, &store) ||
		learn_store(err, store, &known))
		goto done;
	result = 0;
	for (size_t i = 0; !result && i < system->gpu_count; i++)
		if (!is_repeated(system, i))
			result = keep_target(err, options, store, &known, system->gpus[i].target, &entries);
	if (result)
		goto done;
	/* What is kept is kept even if the rest cannot be put in order: the next run tries again. */
	(void)collect_garbage(NULL, system->state_dir, most_bytes, FEW_PACKS, &swept);
	*ret_entries = entries;
done:
	os_file_close(lock);
	set_free(&known.keys);
	jw_store_free(store);
	return result;
}

/* ---- filling again */

int jw_store_refill(struct jw_error *err, const struct jw_store_refill_options *options,
					struct jw_store_refilled *ret_refilled)
{
	const struct jw_system *system = options->system;
	const struct refill_request request = {.system = system,
										   .mode = REFILL_OWN,
										   .keys = options->keys,
										   .count = options->count,
										   .dry_run = options->dry_run,
										   .cancel = options->cancel};
	char *folder = store_path(NULL, system->state_dir);
	struct os_file *lock = NULL;
	int result;

	/* While packs become one, what is looked for may stand in none that is listed. Without the lock
	 * no more is lost than that. */
	if (!options->dry_run && folder && os_exists(folder))
		(void)lock_store(NULL, system->state_dir, &lock);
	result = refill_from_store(err, &request, ret_refilled);
	os_file_close(lock);
	mem_free(folder);
	return result;
}

/* ---- removing */

int jw_store_gc(struct jw_error *err, const char *state_dir, uint64_t most_bytes,
				struct jw_store_swept *ret_swept)
{
	char *folder = store_path(err, state_dir);
	struct os_file *lock = NULL;
	int result = -1;

	if (folder && !os_exists(folder)) {
		*ret_swept = (struct jw_store_swept){0};
		result = 0;
	} else if (folder && !lock_store(err, state_dir, &lock)) {
		result = collect_garbage(err, state_dir, most_bytes, 2, ret_swept);
	}
	os_file_close(lock);
	mem_free(folder);
	return result;
}

int jw_store_remove(struct jw_error *err, const char *state_dir, const char *name)
{
	char *folder = NULL, *path = NULL;
	int result = -1;

	if (!text_ends(name, extension) || strpbrk(name, "/\\"))
		return error_set(err, JW_ERR_USAGE, "“%.100s” is no name of a pack in the store", name);
	folder = store_path(err, state_dir);
	path = folder ? os_join(err, folder, name) : NULL;
	if (path && !os_exists(path))
		error_set(err, JW_ERR_NOT_FOUND, "no pack “%s” in %s", name, folder);
	else if (path)
		result = os_remove(err, path);
	mem_free(folder);
	mem_free(path);
	return result;
}
