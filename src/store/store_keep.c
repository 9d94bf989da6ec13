/* jw_store_keep and jw_store_gc: adding packs to the store and removing them. */

#include <jitwarm/pack.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/sized.h"
#include "store/store_packs.h"

/* After a prime a few small packs may stay: merging them takes a moment. */
enum { FEW_PACKS = 16, MOST_TARGETS = 32 };

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

/* Runs while the store's lock is held. */
static int collect_garbage(struct jw_error *err, const char *state_dir, uint64_t most_bytes,
						   size_t few, struct jw_store_swept *ret_swept)
{
	struct jw_store_swept swept = {0};
	struct jw_store *store = NULL;
	int result;

	if (jw_store_open(err,
					  &(struct jw_store_options){.size = sizeof(struct jw_store_options),
												 .state_dir = state_dir},
					  &store))
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

int jw_store_gc(struct jw_error *err, const char *state_dir, uint64_t most_bytes,
				struct jw_store_swept *ret_swept)
{
	char *folder = store_path(err, state_dir);
	struct os_file *lock = NULL;
	int result = -1;

	if (folder && !os_exists(folder)) {
		*ret_swept = (struct jw_store_swept){0};
		result = 0;
	} else if (folder && !store_lock(err, state_dir, &lock)) {
		result = collect_garbage(err, state_dir, most_bytes, 2, ret_swept);
	}
	os_file_close(lock);
	mem_free(folder);
	return result;
}

/* `context`: a set of the names of the entries in the store's packs. */
static bool is_unknown(void *context, uint64_t key)
{
	return !set_has(context, key);
}

static int learn_pack(struct jw_error *err, struct set *known, const char *path)
{
	struct pack_manifest manifest = {0};
	int result = 0;

	/* An unreadable pack has no entries. */
	if (store_read_manifest(NULL, path, &manifest))
		return 0;
	for (size_t i = 0; !result && i < manifest.entry_count; i++)
		if (is_unknown(known, manifest.entries[i].key))
			result = set_add(err, known, manifest.entries[i].key, i);
	manifest_free(&manifest);
	return result;
}

static int learn_store(struct jw_error *err, const struct jw_store *store, struct set *known)
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

/* A pack is named by its content, so that the same content twice is one pack. */
static int keep_target(struct jw_error *err, const struct jw_store_keep_options *how,
					   const struct jw_store *store, struct set *known, struct jw_target target,
					   size_t *entries)
{
	char sm[JW_TARGET_TEXT];
	char *path = os_join(err, store->path, STORE_UNFINISHED), *named = NULL;
	const struct jw_export_options options = {.size = sizeof options,
											  .system = how->system,
											  .targets = &target,
											  .target_count = 1,
											  .output = path,
											  .cancel = how->cancel,
											  .context = known,
											  .wanted = is_unknown};
	struct jw_export_result made = {.size = sizeof made};
	struct jw_error why = {0};
	int result = -1;

	if (!path)
		return -1;
	if (jw_export(&why, &options, &made)) {
		result = why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
		goto done;
	}
	named = mem_printf(err, "%s/%s-%.16s%s", store->path, jw_target_sm(sm, target),
					   made.blake2b_512, STORE_EXTENSION);
	if (named && !os_rename(err, path, named)) {
		os_sync_names(named);
		*entries += made.entries;
		result = 0;
	}
done:
	mem_free(path);
	mem_free(named);
	return result;
}

int jw_store_keep(struct jw_error *err, const struct jw_store_keep_options *options,
				  size_t *ret_entries)
{
	options = SIZED(err, options, struct jw_store_keep_options);
	if (!options)
		return -1;
	const struct jw_system *system = options->system;
	const struct jw_store_options where = {.size = sizeof where, .state_dir = system->state_dir};
	uint64_t most_bytes = options->most_bytes ? options->most_bytes : JW_STORE_DEFAULT_BYTES;
	struct jw_store *store = NULL;
	struct os_file *lock = NULL;
	struct set known = {0};
	struct jw_store_swept swept = {0};
	struct jw_target targets[MOST_TARGETS];
	size_t entries = 0, target_count;
	int result = -1;

	if (!system->cache.path || !system->driver.stamp[0] ||
		system->driver.trust == JW_TRUST_OPAQUE) {
		*ret_entries = 0;
		return 0;
	}
	if (store_lock(err, system->state_dir, &lock) || jw_store_open(err, &where, &store) ||
		learn_store(err, store, &known))
		goto done;
	result = 0;
	target_count = jw_system_targets(system, targets, MOST_TARGETS);
	for (size_t i = 0; !result && i < target_count; i++)
		result = keep_target(err, options, store, &known, targets[i], &entries);
	if (result)
		goto done;
	/* A failure of the cleanup does not undo the keeping: the next run tries again. */
	(void)collect_garbage(NULL, system->state_dir, most_bytes, FEW_PACKS, &swept);
	*ret_entries = entries;
done:
	os_file_close(lock);
	set_free(&known);
	jw_store_free(store);
	return result;
}
