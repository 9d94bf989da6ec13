/* Merges many packs of a store into few: each prime that compiled something leaves one. */
#include "store/store_packs.h"

#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "os/file.h"
#include "pack/writer.h"

/* The content of a small pack, and of a merged one: unpacking and compressing it again takes
 * seconds. */
#define MOST_SMALL_BYTES  (UINT64_C(256) << 20)
#define MOST_MERGED_BYTES (UINT64_C(1) << 30)

static bool is_small(const struct jw_store_pack *pack)
{
	return !pack->damage[0] && pack->content_bytes <= MOST_SMALL_BYTES;
}

/* Packs to merge, the oldest first, and their paths. */
struct lot {
	const struct jw_store *store;
	size_t *packs;
	char **paths;
	size_t count;
	uint64_t content_bytes;
};

static bool is_of_lot(const struct lot *lot, const struct jw_store_pack *pack)
{
	const struct jw_store_pack *first = &lot->store->packs[lot->packs[0]];

	return is_small(pack) && !strcmp(pack->targets, first->targets) &&
		   !strcmp(pack->drivers, first->drivers) &&
		   lot->content_bytes + pack->content_bytes <= MOST_MERGED_BYTES;
}

/* The pack at `first` and all of the store's that match it; `done` flags the packs already seen. */
static int collect_packs(struct jw_error *err, struct lot *lot, size_t first, bool *done)
{
	lot->packs[0] = first;
	lot->count = 0;
	lot->content_bytes = 0;
	for (size_t i = first; i < lot->store->count; i++) {
		const struct jw_store_pack *pack = &lot->store->packs[i];

		if (done[i] || !is_of_lot(lot, pack))
			continue;
		done[i] = true;
		lot->packs[lot->count] = i;
		if (!(lot->paths[lot->count++] = os_join(err, lot->store->path, pack->name)))
			return -1;
		lot->content_bytes += pack->content_bytes;
	}
	return 0;
}

static void forget_paths(struct lot *lot)
{
	for (size_t i = 0; i < lot->count; i++) {
		mem_free(lot->paths[i]);
		lot->paths[i] = NULL;
	}
}

/* Named by its content, as the other packs of this kind are. */
static char *name_of(struct jw_error *err, const struct lot *lot, const struct written *written)
{
	const char *old = lot->store->packs[lot->packs[0]].name, *dash = strchr(old, '-');
	char hex[17], *name, *path;

	(void)sodium_bin2hex(hex, sizeof hex, written->prehash, 8);
	name = mem_printf(err, "%.*s-%s" STORE_EXTENSION, dash ? (int)(dash - old) : 0, old, hex);
	/* Joined exactly like the old paths, since both are compared. */
	path = name ? os_join(err, lot->store->path, name) : NULL;
	mem_free(name);
	return path;
}

/* Removes the old packs except one with the new one's name: it is the same pack. */
static int remove_old(struct jw_error *err, const struct lot *lot, const char *named,
					  size_t *removed)
{
	for (size_t i = 0; i < lot->count; i++) {
		if (!strcmp(lot->paths[i], named))
			continue;
		if (os_remove(err, lot->paths[i]))
			return -1;
		++*removed;
	}
	return 0;
}

/* Gives the new pack the date of the newest old one, and syncs it. */
static int settle_merge(struct jw_error *err, const struct lot *lot, const char *path)
{
	int64_t newest_ns = lot->store->packs[lot->packs[lot->count - 1]].mtime_ns;
	struct os_file *file = NULL;
	int result = os_file_open(err, path, OS_OPEN_UPDATE, &file);

	if (!result && (os_file_set_mtime(err, file, newest_ns) || os_file_sync(err, file)))
		result = -1;
	os_file_close(file);
	return result;
}

static int merge_lot(struct jw_error *err, const struct lot *lot, const char *path,
					 size_t *count_merged, size_t *count_made)
{
	struct written written;
	char *named = NULL;
	int result = -1;

	if (merge_packs(err, lot->paths, lot->count, path, &written) ||
		store_verify_pack(err, path, &(struct jw_cancel){0}) || settle_merge(err, lot, path))
		goto done;
	named = name_of(err, lot, &written);
	if (!named || os_rename(err, path, named))
		goto done;
	os_sync_names(named);
	++*count_made;
	result = remove_old(err, lot, named, count_merged);
done:
	if (result)
		(void)os_remove(NULL, path);
	mem_free(named);
	return result;
}

int store_merge(struct jw_error *err, const struct jw_store *store, size_t least,
				size_t *count_merged, size_t *count_made)
{
	struct lot lot = {.store = store,
					  .packs = mem_array(err, store->count, sizeof *lot.packs),
					  .paths = mem_array(err, store->count, sizeof *lot.paths)};
	bool *done = mem_array(err, store->count, sizeof *done);
	char *path = os_join(err, store->path, STORE_UNFINISHED);
	int result = lot.packs && lot.paths && done && path ? 0 : -1;

	for (size_t i = 0; !result && i < store->count; i++) {
		struct jw_error why = {0};

		if (done[i])
			continue;
		result = collect_packs(err, &lot, i, done);
		/* A pack was damaged since it was listed, or is for another system: all stay. */
		if (!result && lot.count >= least &&
			merge_lot(&why, &lot, path, count_merged, count_made) && why.code != JW_ERR_FORMAT &&
			why.code != JW_ERR_UNSUPPORTED && why.code != JW_ERR_LIMIT)
			result = error_copy(err, &why);
		forget_paths(&lot);
	}
	mem_free(lot.packs);
	mem_free(lot.paths);
	mem_free(done);
	mem_free(path);
	return result;
}
