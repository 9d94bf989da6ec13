/* The packs of the store. */
#include "pack/store_packs.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <jitwarm/pack.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "pack/judge.h"
#include "pack/prepared.h"
#include "pack/reader.h"

enum { MAX_PACKS = 10000 };

/* The wait while another run keeps its results: up to a minute. */
enum { LOCK_MS = 60000 };

/* ---- the folder */

char *store_path(struct jw_error *err, const char *state_dir)
{
	if (!state_dir) {
		error_set(err, JW_ERR_NOT_FOUND,
				  "this account has no folder for a store: set JITWARM_STATE=DIR");
		return NULL;
	}
	return os_join(state_dir, "store");
}

int store_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock)
{
	char *folder = store_path(err, state_dir), *path, *unfinished;
	struct os_file *lock = NULL;
	int result;

	if (!folder)
		return -1;
	path = os_join(folder, "lock");
	unfinished = os_join(folder, STORE_UNFINISHED);
	result = os_make_dirs(err, folder, 0700);
	if (!result)
		result = os_lock_file(err, path, LOCK_MS, &lock);
	if (lock) {
		/* Removes the temporary files of killed runs. */
		os_sweep(folder, STORE_UNFINISHED, "", OS_REGULAR, 0);
		os_sweep_beside(unfinished, 0);
		os_sweep(folder, STORE_UNFINISHED, OS_MADE_FORM, OS_REGULAR, 0);
		*ret_lock = lock;
	}
	mem_free(unfinished);
	mem_free(path);
	mem_free(folder);
	return result;
}

static void describe_pack(const char *path, struct jw_store_pack *pack)
{
	struct pack_manifest manifest = {0};
	struct jw_error why = {0};
	struct os_stat stat = {0};

	if (os_stat(&why, path, &stat) || reader_manifest(&why, path, NULL, &manifest)) {
		TEXT_COPY(pack->damage, why.message);
		pack->broken = why.code == JW_ERR_FORMAT || why.code == JW_ERR_LIMIT;
	} else {
		pack->entries = manifest.entry_count;
		pack->content_bytes = manifest_content(&manifest);
		(void)pack_targets_text(pack->targets, &manifest);
		(void)pack_drivers_text(pack->drivers, &manifest);
	}
	pack->bytes = stat.size_bytes;
	pack->mtime_ns = stat.mtime_ns;
	manifest_free(&manifest);
}

static int by_age(const void *a, const void *b)
{
	const struct jw_store_pack *left = a, *right = b;

	if (left->mtime_ns != right->mtime_ns)
		return left->mtime_ns < right->mtime_ns ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int list_packs(struct jw_error *err, struct jw_store *store)
{
	struct os_names names;
	size_t capacity = 0;
	bool there;
	int result = 0;

	if (os_check_exists(err, store->path, &there))
		return -1;
	if (!there)
		return 0;
	if (os_list(err, store->path, &names))
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		struct jw_store_pack *pack;
		char *path;

		if (!text_ends(name, STORE_EXTENSION) || strlen(name) >= sizeof store->packs->name ||
			names.kinds[i] != OS_REGULAR)
			continue;
		result = VEC_ROOM(err, store->packs, capacity, store->count, MAX_PACKS);
		if (result)
			break;
		pack = &store->packs[store->count++];
		*pack = (struct jw_store_pack){0};
		TEXT_COPY(pack->name, name);
		path = os_join(store->path, name);
		describe_pack(path, pack);
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
	store = mem_alloc(sizeof *store);
	store->path = store_path(err, options->state_dir);
	if (!store->path || list_packs(err, store)) {
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

/* jw_store_keep: adding packs to the store and removing them. */

/* The most packs that are kept: each keeping reads all manifests, which takes a few milliseconds a
 * pack. Entries of a removed pack that the cache still has are kept again. */
enum { MAX_KEPT = 256, MAX_TARGETS = 32 };

/* Returns whether a pack waits for a boot. Such packs hold no more than a cache does, and stay. */
static bool waits_for_boot(const cJSON *ahead, const struct jw_store_pack *pack)
{
	const char *next = json_count(ahead, "stored") ? json_text(ahead, "next", "") : "";

	return *next && text_starts(pack->drivers, next);
}

static int remove_pack(struct jw_error *err, const struct jw_store *store,
					   const struct jw_store_pack *pack)
{
	char *path = os_join(store->path, pack->name);
	const int result = os_remove(err, path);

	mem_free(path);
	return result;
}

int jw_store_clear(struct jw_error *err, const struct jw_store_options *options, bool dry_run,
				   struct jw_store_cleared *ret_cleared)
{
	struct jw_store_cleared cleared = {0};
	struct jw_store *store = NULL;
	struct os_file *lock = NULL;
	cJSON *ahead = NULL;
	int result = jw_store_open(err, options, &store);

	/* If there is no store, none is made for its lock. */
	if (!result && store->count && !dry_run) {
		jw_store_free(store);
		store = NULL;
		result = store_lock(err, options->state_dir, &lock) || jw_store_open(err, options, &store)
					 ? -1
					 : 0;
	}
	ahead = result ? NULL : prepared_read(options->state_dir, 0);
	for (size_t i = 0; !result && i < store->count; i++) {
		const struct jw_store_pack *pack = &store->packs[i];
		const bool waits = waits_for_boot(ahead, pack);

		result = waits || dry_run ? 0 : remove_pack(err, store, pack);
		cleared.waiting += waits;
		cleared.removed += !waits && !result;
		cleared.removed_bytes += waits || result ? 0 : pack->bytes;
	}
	cJSON_Delete(ahead);
	os_file_close(lock);
	jw_store_free(store);
	if (!result)
		*ret_cleared = cleared;
	return result ? -1 : 0;
}

/* Removes broken packs, and the oldest ones until at most so many are left. A failure does not undo
 * the keeping: the next run tries again. */
static void sweep_packs(const char *state_dir, const struct jw_store *store, uint64_t most_bytes)
{
	cJSON *ahead = prepared_read(state_dir, 0);
	uint64_t bytes = store->bytes;
	bool removed = true;

	for (size_t i = 0; removed && i < store->count; i++) {
		const struct jw_store_pack *pack = &store->packs[i];

		if (!pack->broken &&
			((bytes <= most_bytes && store->count - i <= MAX_KEPT) || waits_for_boot(ahead, pack)))
			continue;
		removed = !remove_pack(NULL, store, pack);
		bytes -= pack->bytes;
	}
	cJSON_Delete(ahead);
}

/* Returns whether no pack of the store has an entry; `context` is a set of the names of the entries
 * in the store's packs. */
static bool is_unknown(void *context, uint64_t key, const struct jw_identity *identity)
{
	(void)identity;
	return !set_has(context, key);
}

/* A pack whose manifest cannot be read has no entries. */
static void learn_store(const struct jw_store *store, struct set *known)
{
	for (size_t i = 0; i < store->count; i++) {
		struct pack_manifest manifest = {0};
		char *path;

		if (store->packs[i].damage[0])
			continue;
		path = os_join(store->path, store->packs[i].name);
		(void)reader_manifest(NULL, path, NULL, &manifest);
		for (size_t k = 0; k < manifest.entry_count; k++)
			if (!set_has(known, manifest.entries[k].key))
				set_add(known, manifest.entries[k].key, k);
		manifest_free(&manifest);
		mem_free(path);
	}
}

/* Keeps the entries of one target. A pack is named by its content, so that the same content twice
 * is one pack. */
static int keep_target(struct jw_error *err, const struct jw_store_keep_options *how,
					   const struct jw_store *store, struct set *known, struct jw_target target,
					   size_t *entries)
{
	char sm[JW_TARGET_TEXT];
	char *path = os_join(store->path, STORE_UNFINISHED), *named;
	const struct jw_export_options options = {.system = how->system,
											  .targets = &target,
											  .target_count = 1,
											  .output = path,
											  .cancel = how->cancel,
											  .context = known,
											  .wanted = is_unknown};
	struct jw_export_result made = {0};
	struct jw_error why = {0};
	int result;

	if (jw_export(&why, &options, &made)) {
		mem_free(path);
		return why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
	}
	named = mem_printf("%s/%s-%.16s%s", store->path, jw_target_sm(sm, target), made.blake2b_512,
					   STORE_EXTENSION);
	result = os_rename(err, path, named);
	if (!result) {
		os_sync_names(named);
		*entries += made.entries;
	}
	mem_free(path);
	mem_free(named);
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
	struct set known = {0};
	struct jw_target targets[MAX_TARGETS];
	size_t entries = 0, target_count;
	int result = -1;

	if (!system->cache.path || !system->driver.stamp[0] ||
		system->driver.trust == JW_TRUST_OPAQUE) {
		*ret_entries = 0;
		return 0;
	}
	if (store_lock(err, system->state_dir, &lock) || jw_store_open(err, &where, &store))
		goto done;
	result = 0;
	learn_store(store, &known);
	target_count = jw_system_targets(system, targets, MAX_TARGETS);
	for (size_t i = 0; !result && i < target_count; i++)
		result = keep_target(err, options, store, &known, targets[i], &entries);
	if (result)
		goto done;
	*ret_entries = entries;
	jw_store_free(store);
	store = NULL;
	if (!jw_store_open(NULL, &where, &store))
		sweep_packs(system->state_dir, store, most_bytes);
done:
	os_file_close(lock);
	set_free(&known);
	jw_store_free(store);
	return result;
}
