/* jw_store_open and jw_store_remove: the packs of the store. */
#include "store/store_packs.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>
#include <uv.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "pack/driver_text.h"
#include "pack/import.h"
#include "pack/reader.h"

enum { MOST_PACKS = 10000 };

/* Waits up to a minute while another run keeps its results. */
enum { TRY_EVERY_MS = 100, MOST_TRIES = 600 };

/* ---- the folder */

char *store_path(struct jw_error *err, const char *state_dir)
{
	if (!state_dir) {
		error_set(err, JW_ERR_NOT_FOUND, "this account has no folder for a store (JITWARM_STATE)");
		return NULL;
	}
	return os_join(err, state_dir, "store");
}

int store_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock)
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
			result = error_set(err, JW_ERR_BUSY, "%s: another jitwarm is using it; try again later",
							   folder);
		else if (!held)
			uv_sleep(TRY_EVERY_MS);
	}
	if (held) {
		/* Of killed runs */
		os_sweep(folder, STORE_UNFINISHED, "", OS_REGULAR, 0);
		os_sweep(folder, STORE_UNFINISHED, ".%.part", OS_REGULAR, 0);
		os_sweep(folder, STORE_UNFINISHED, OS_MADE_FORM, OS_REGULAR, 0);
		*ret_lock = file;
	} else {
		os_file_close(file);
	}
done:
	mem_free(path);
	mem_free(folder);
	return result;
}

int store_read_manifest(struct jw_error *err, const char *path, struct pack_manifest *ret_manifest)
{
	if (reader_manifest(err, path, ret_manifest))
		return -1;
	if (!ret_manifest->opaque)
		return 0;
	manifest_free(ret_manifest);
	return error_set(err, JW_ERR_UNSUPPORTED, "%s: an opaque pack, which the store does not keep",
					 path);
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
		pack->content_bytes = manifest_content(&manifest);
		(void)pack_targets_text(pack->targets, &manifest);
		(void)pack_drivers_text(pack->drivers, &manifest);
	}
	pack->bytes = stat.size_bytes;
	pack->mtime_ns = stat.mtime_ns;
	manifest_free(&manifest);
	return why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED ? error_copy(err, &why) : 0;
}

int store_verify_pack(struct jw_error *err, const char *path, const struct jw_cancel *cancel)
{
	const struct jw_import_options options = {.size = sizeof options,
											  .path = path,
											  .limit_bytes = UINT64_MAX,
											  .allow_unsigned = true,
											  .cancel = *cancel};

	return import_check_pack(err, &options);
}

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
	bool there;
	int result = 0;

	if (os_look(err, store->path, &there))
		return -1;
	if (!there)
		return 0;
	if (os_list(err, store->path, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		const char *name = names.items[i];
		struct jw_store_pack *pack;
		char *path;

		if (!text_ends(name, STORE_EXTENSION) || strlen(name) >= sizeof store->packs->name ||
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
	options = SIZED(err, options, struct jw_store_options);
	if (!options)
		return -1;
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

int jw_store_remove(struct jw_error *err, const char *state_dir, const char *name)
{
	char *folder = NULL, *path = NULL;
	int result = -1;

	if (!text_ends(name, STORE_EXTENSION) || strpbrk(name, "/\\"))
		return error_set(err, JW_ERR_USAGE,
						 "“%.100s” is not a pack of the store; “jitwarm store list” names them",
						 name);
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
