/* The packs of the store. */
#include "pack/store_packs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <jitwarm/pack.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/set.h"
#include "base/text.h"
#include "driver/state_file.h"
#include "os/clock.h"
#include "pack/judge.h"
#include "pack/key_files.h"
#include "pack/reader.h"
#include "pack/trust.h"

enum { MAX_PACKS = 10000 };

/* The wait while another run keeps its results: up to a minute. */
enum { LOCK_MS = 60000 };

/* ---- the folder */

char *store_path(struct jw_error *err, const struct jw_store_options *options)
{
	if (options->folder)
		return mem_string(options->folder);
	if (!options->state_dir) {
		error_set(err, JW_ERR_NOT_FOUND,
				  "this account has no folder for a store: set JITWARM_STATE=DIR");
		return NULL;
	}
	return os_join(options->state_dir, "store");
}

int store_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock)
{
	const struct jw_store_options where = {.state_dir = state_dir};
	char *folder = store_path(err, &where), *path, *unfinished;
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

	if (os_stat(&why, path, &stat) || reader_manifest(&why, path, &manifest)) {
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

static int list_packs(struct jw_error *err, struct jw_store *store, bool required)
{
	struct os_names names;
	size_t capacity = 0;
	bool there;
	int result = 0;

	if (!required && os_check_exists(err, store->path, &there))
		return -1;
	if (!required && !there)
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
		result = ARENA_ROOM(err, store, store->packs, capacity, store->count, MAX_PACKS);
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
	store = arena_open(sizeof *store);
	store->path = arena_keep(store, store_path(err, options));
	if (!store->path || list_packs(err, store, options->folder)) {
		jw_result_free(store);
		return -1;
	}
	*ret_store = store;
	return 0;
}

/* jw_store_keep: adding packs to the store and removing them. */

/* The most packs that are kept: each keeping reads all manifests, which takes a few milliseconds a
 * pack. Entries of a removed pack that the cache still has are kept again. */
enum { MAX_KEPT = 256, MAX_TARGETS = 32 };

static int remove_pack(struct jw_error *err, const struct jw_store *store,
					   const struct jw_store_pack *pack)
{
	char *path = os_join(store->path, pack->name), *signature = mem_printf("%s.minisig", path);
	const int result = os_remove(err, path) || os_remove(err, signature) ? -1 : 0;

	mem_free(signature);
	mem_free(path);
	return result;
}

/* ---- packs that others contain */

/* The number of packs that have an entry: of all, and of those that a trusted key has signed. */
struct holders {
	size_t all, trusted;
};

struct pack_size {
	size_t entries, pack;
};

/* Orders packs by their number of entries; of equal ones, the oldest comes first. */
static int by_entries(const void *a, const void *b)
{
	const struct pack_size *left = a, *right = b;

	if (left->entries != right->entries)
		return left->entries < right->entries ? -1 : 1;
	return left->pack < right->pack ? -1 : left->pack > right->pack;
}

struct superseding {
	struct pack_manifest *manifests; /* of the store's packs; empty for those that are damaged */
	bool *trusted;
	struct set entries; /* indices of `holders` */
	struct holders *holders;
	size_t count, capacity;
};

static bool is_trusted(const char *path, const char *state_dir)
{
	const struct jw_import_options rules = {.path = path, .state_dir = state_dir};
	struct jw_import_result *result = mem_alloc(sizeof *result);
	struct source *source = NULL;
	const bool trusted =
		!source_open(NULL, path, NULL, &source) && !trust_check(NULL, &rules, source, result);

	source_close(source);
	mem_free(result);
	return trusted;
}

/* Finds the holders of an entry: of a name, for one module. */
static struct holders *holders_of(struct superseding *all, const struct pack_manifest *manifest,
								  const struct pack_entry *entry)
{
	struct jw_identity identity;
	size_t cursor = 0, at;
	uint64_t hash;

	pack_entry_identity(&identity, manifest, entry);
	hash = fnv_update(entry->key, &identity, sizeof identity);
	at = set_find(&all->entries, hash, &cursor);
	if (at == SET_NONE) {
		VEC_GROW(all->holders, all->capacity, all->count);
		at = all->count++;
		all->holders[at] = (struct holders){0};
		set_add(&all->entries, hash, at);
	}
	return &all->holders[at];
}

static void count_holders(struct superseding *all, size_t pack, bool holds)
{
	const struct pack_manifest *manifest = &all->manifests[pack];

	for (size_t i = 0; i < manifest->entry_count; i++) {
		struct holders *holders = holders_of(all, manifest, &manifest->entries[i]);

		holders->all += holds ? 1 : (size_t)-1;
		if (all->trusted[pack])
			holders->trusted += holds ? 1 : (size_t)-1;
	}
}

/* Returns whether other packs have all of a pack's entries. Those of a signed pack must be in
 * signed ones, since an unsigned pack may claim anything. */
static bool is_superseded(struct superseding *all, size_t pack)
{
	const struct pack_manifest *manifest = &all->manifests[pack];

	for (size_t i = 0; i < manifest->entry_count; i++) {
		const struct holders *holders = holders_of(all, manifest, &manifest->entries[i]);

		if ((all->trusted[pack] ? holders->trusted : holders->all) < 2)
			return false;
	}
	return manifest->entry_count;
}

/* Marks the packs all of whose entries remain in others. The smallest packs come first, and all
 * machines agree on the order, so that two of them never remove each other's last holder. */
static void find_superseded(const struct jw_store *store, const char *state_dir, bool *superseded)
{
	struct superseding all = {
		.manifests = mem_array(store->count, sizeof *all.manifests),
		.trusted = mem_array(store->count, sizeof *all.trusted),
	};
	struct pack_size *order = mem_array(store->count, sizeof *order);

	for (size_t i = 0; i < store->count; i++) {
		char *path = os_join(store->path, store->packs[i].name);

		if (!store->packs[i].damage[0])
			(void)reader_manifest(NULL, path, &all.manifests[i]);
		all.trusted[i] = all.manifests[i].entry_count && is_trusted(path, state_dir);
		count_holders(&all, i, true);
		order[i] = (struct pack_size){all.manifests[i].entry_count, i};
		mem_free(path);
	}
	if (store->count)
		qsort(order, store->count, sizeof *order, by_entries);
	for (size_t i = 0; i < store->count; i++) {
		const size_t pack = order[i].pack;

		superseded[pack] = is_superseded(&all, pack);
		if (superseded[pack])
			count_holders(&all, pack, false);
	}
	for (size_t i = 0; i < store->count; i++)
		manifest_free(&all.manifests[i]);
	mem_free(order);
	mem_free(all.manifests);
	mem_free(all.trusted);
	mem_free(all.holders);
	set_free(&all.entries);
}

int jw_store_clear(struct jw_error *err, const struct jw_store_options *options, bool superseded,
				   bool dry_run, struct jw_store_cleared *ret_cleared)
{
	struct jw_store_cleared cleared = {0};
	struct jw_store *store = NULL;
	struct os_file *lock = NULL;
	bool *chosen = NULL;
	int result = jw_store_open(err, options, &store);

	/* If there is no store, none is made for its lock. File servers may not lock. */
	if (!result && store->count && !dry_run && !options->folder) {
		jw_result_free(store);
		store = NULL;
		result = store_lock(err, options->state_dir, &lock) || jw_store_open(err, options, &store)
					 ? -1
					 : 0;
	}
	if (!result) {
		chosen = mem_array(store->count, sizeof *chosen);
		if (superseded)
			find_superseded(store, options->state_dir, chosen);
	}
	for (size_t i = 0; !result && i < store->count; i++) {
		const struct jw_store_pack *pack = &store->packs[i];

		if (superseded && !chosen[i])
			continue;
		result = dry_run ? 0 : remove_pack(err, store, pack);
		cleared.removed += !result;
		cleared.removed_bytes += result ? 0 : pack->bytes;
	}
	mem_free(chosen);
	os_file_close(lock);
	jw_result_free(store);
	if (!result)
		*ret_cleared = cleared;
	return result ? -1 : 0;
}

/* Removes broken packs, and the oldest ones until at most so many are left. A failure does not undo
 * the keeping: the next run tries again. */
static void sweep_packs(const struct jw_store *store, uint64_t most_bytes)
{
	uint64_t bytes = store->bytes;
	bool removed = true;

	for (size_t i = 0; removed && i < store->count; i++) {
		const struct jw_store_pack *pack = &store->packs[i];

		if (!pack->broken && bytes <= most_bytes && store->count - i <= MAX_KEPT)
			continue;
		removed = !remove_pack(NULL, store, pack);
		bytes -= pack->bytes;
	}
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
		(void)reader_manifest(NULL, path, &manifest);
		for (size_t k = 0; k < manifest.entry_count; k++)
			if (!set_has(known, manifest.entries[k].key))
				set_add(known, manifest.entries[k].key, k);
		manifest_free(&manifest);
		mem_free(path);
	}
}

char *store_pack_start(const struct jw_system *system, struct jw_target target)
{
	struct jw_driver driver = system->driver.version;
	char sm[JW_TARGET_TEXT], text[JW_DRIVER_TEXT], *start;

	driver.cuda = driver.release[0] ? 0 : driver.cuda;
	start = mem_printf("%s-%s-", jw_target_sm(sm, target),
					   driver.release[0] ? jw_driver_text(text, &driver) : system->driver.stamp);

	for (char *at = start; *at; at++)
		if (*at == ' ' || *at == ':' || *at == '/')
			*at = '_';
	return start;
}

/* Writes the signature of a pack at `path` that will be called `named`. */
static int sign_pack(struct jw_error *err, const struct minisign_secret *secret, const char *path,
					 const char *named)
{
	char *signature = mem_printf("%s.minisig", named);
	struct pack_manifest manifest = {0};
	struct source *source = NULL;
	struct reader *reader = NULL;
	const int result =
		source_open(err, path, NULL, &source) || reader_open(err, source, &manifest, &reader) ||
				trust_sign(err, secret, &manifest, source_prehash(source), named, signature)
			? -1
			: 0;

	reader_close(reader);
	manifest_free(&manifest);
	source_close(source);
	mem_free(signature);
	return result;
}

/* Returns the name of a new pack, by the hash of its bytes and the key that signs it: two machines
 * write one name only if they write the same bytes and trust each other. */
static char *name_pack(const struct store_addition *addition, struct jw_target target,
					   const struct jw_export_result *made, const struct minisign_secret *secret)
{
	char *start = store_pack_start(addition->system, target), *named;
	char first[17];
	uint64_t hash;

	(void)snprintf(first, sizeof first, "%.16s", made->blake2b_512);
	hash = strtoull(first, NULL, 16);
	if (addition->sign_key)
		hash = fnv_update(hash, secret->id, sizeof secret->id);
	named = mem_printf("%s/%s%016llx%s", addition->folder, start, (unsigned long long)hash,
					   STORE_EXTENSION);
	mem_free(start);
	return named;
}

/* Adds the entries of one architecture. */
static int add_for_target(struct jw_error *err, const struct store_addition *addition,
						  struct jw_target target, size_t *entries)
{
	char *path = os_join(addition->folder, STORE_UNFINISHED), *named = NULL;
	const struct jw_export_options options = {.system = addition->system,
											  .targets = &target,
											  .target_count = 1,
											  .output = path,
											  .cancel = addition->cancel,
											  .context = addition->context,
											  .wanted = addition->wanted};
	struct minisign_secret secret = {0};
	struct jw_export_result made = {0};
	struct jw_error why = {0};
	int result = jw_export(&why, &options, &made);

	if (result) {
		result = why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
		goto done;
	}
	if (addition->sign_key)
		result = keys_read(err, addition->state_dir, addition->sign_key, &secret);
	named = name_pack(addition, target, &made, &secret);
	if (!result && addition->sign_key)
		result = sign_pack(err, &secret, path, named);
	if (!result)
		result = os_rename(err, path, named);
	if (!result) {
		os_sync_names(named);
		*entries += made.entries;
	}
done:
	minisign_forget(&secret, sizeof secret);
	mem_free(path);
	mem_free(named);
	return result;
}

int store_add(struct jw_error *err, const struct store_addition *addition, size_t *entries)
{
	struct jw_target targets[MAX_TARGETS];
	const size_t count = jw_system_targets(addition->system, targets, MAX_TARGETS);
	int result = 0;

	for (size_t i = 0; !result && i < count; i++)
		result = add_for_target(err, addition, targets[i], entries);
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
	struct store_addition addition = {
		.system = system, .cancel = options->cancel, .context = &known, .wanted = is_unknown};
	size_t entries = 0;
	int result = -1;

	if (!system->cache.path || !system->driver.stamp[0] ||
		system->driver.trust == JW_TRUST_OPAQUE) {
		*ret_entries = 0;
		return 0;
	}
	if (store_lock(err, system->state_dir, &lock) || jw_store_open(err, &where, &store))
		goto done;
	learn_store(store, &known);
	addition.folder = store->path;
	result = store_add(err, &addition, &entries);
	if (result)
		goto done;
	*ret_entries = entries;
	jw_result_free(store);
	store = NULL;
	if (!jw_store_open(NULL, &where, &store))
		sweep_packs(store, most_bytes);
done:
	os_file_close(lock);
	set_free(&known);
	jw_result_free(store);
	return result;
}
