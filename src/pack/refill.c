#include "pack/refill.h"

#include <stdarg.h>
#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "os/file.h"
#include "pack/import.h"
#include "pack/judge.h"
#include "pack/store_packs.h"

struct refill {
	const struct refill_request *request;
	struct set asked, lengths;
	/* Names that newer packs had no room for, or, with dry_run, that were counted. */
	struct set counted;
	uint64_t room_bytes; /* what remains of the limit */
	struct jw_store_refilled done;
};

static void JW_PRINTF(2, 3) note_refill(struct refill *refill, const char *format, ...)
{
	struct jw_store_refilled *done = &refill->done;
	va_list list;

	if (done->note_count == JW_STORE_MAX_NOTES) {
		done->more_notes++;
		return;
	}
	va_start(list, format);
	(void)text_vformat(done->notes[done->note_count++], 0, sizeof *done->notes, format, list);
	va_end(list);
}

/* Returns the place of an entry among those that are asked for; SIZE_MAX if it is not one of them.
 */
static size_t place_of(const struct refill *refill, uint64_t key,
					   const struct jw_identity *identity)
{
	const struct jw_identity *identities = refill->request->identities;
	size_t cursor = 0, at;

	while ((at = set_find(&refill->asked, key, &cursor)) != SET_NONE)
		if (!identities || cache_identity_equal(&identities[at], identity))
			return at;
	return SIZE_MAX;
}

static bool is_asked_for(void *context, uint64_t key, const struct jw_identity *identity)
{
	return place_of(context, key, identity) != SIZE_MAX;
}

/* Returns whether a pack may have entries to carry over. The name of a carried entry depends on its
 * PTX, which the manifest lacks; the lengths of keys suffice to skip the packs of other programs.
 */
static bool may_be_carried(const struct refill *refill, const struct pack_manifest *manifest,
						   const struct pack_entry *entry)
{
	const struct refill_request *request = refill->request;
	struct judgement judgement;

	if (!request->key_bytes)
		return false;
	judge_entry(manifest, entry, request->system, &judgement);
	return judgement.carried && !judgement.refused &&
		   set_has(&refill->lengths, pack_key_bytes(manifest, entry));
}

/* Counts the requested names that the pack would insert, by the manifest alone. Returns whether the
 * pack is worth unpacking. */
static bool count_useful(struct refill *refill, const char *path)
{
	const struct refill_request *request = refill->request;
	const struct jw_system *system = request->system;
	struct pack_manifest manifest = {0};
	uint64_t left = refill->room_bytes;
	size_t no_room = 0, entries = 0, at;
	bool carries = false;

	/* Damaged packs are reported where packs are listed. */
	if (reader_manifest(NULL, path, &manifest))
		return false;
	for (size_t i = 0; i < manifest.entry_count; i++) {
		const struct pack_entry *entry = &manifest.entries[i];
		const uint64_t bytes =
			pack_key_bytes(&manifest, entry) + manifest.members[entry->cubin].size_bytes;
		const bool fits = bytes <= left;
		struct jw_identity identity;

		if (strcmp(manifest.drivers[entry->driver].stamp, system->driver.stamp) != 0) {
			carries = carries || may_be_carried(refill, &manifest, entry);
			continue;
		}
		pack_entry_identity(&identity, &manifest, entry);
		at = place_of(refill, entry->key, &identity);
		if (at == SIZE_MAX || set_has(&refill->counted, entry->key) ||
			cache_presence(system->cache.path, entry->key, NULL, NULL) == CACHE_PRESENT)
			continue;
		/* If a pack is damaged, its entries may be in an older one. */
		if (request->dry_run || !fits)
			set_add(&refill->counted, entry->key, i);
		if (request->dry_run && fits && request->found)
			request->found[at] = true;
		no_room += !fits;
		entries += fits;
		left -= fits ? bytes : 0;
	}
	if (request->dry_run) {
		refill->done.entries += entries;
		refill->done.bytes += refill->room_bytes - left;
		refill->room_bytes = left;
	}
	if (no_room)
		note_refill(refill, "%s: %s left out: %s", request->shown ? request->shown : path,
					TEXT_COUNT(no_room, "entry", "entries"), IMPORT_NO_ROOM);
	manifest_free(&manifest);
	return entries || carries;
}

static int refill_from(struct jw_error *err, struct refill *refill, const char *path)
{
	const struct refill_request *request = refill->request;
	const struct jw_import_options options = {.path = path,
											  .system = request->system,
											  .allow_unsigned = true,
											  .only_missing = true,
											  .context = refill,
											  .cancel = request->cancel,
											  .wanted = is_asked_for};
	struct jw_import_result *result;
	struct jw_error why = {0};

	if (jw_import(&why, &options, &result)) {
		/* If one pack fails, another may succeed. */
		if (why.code != JW_ERR_FORMAT && why.code != JW_ERR_LIMIT && why.code != JW_ERR_UNSUPPORTED)
			return error_copy(err, &why);
		note_refill(refill, "%s", why.message);
		return 0;
	}
	refill->done.entries += result->added;
	refill->done.bytes += result->added_bytes;
	refill->room_bytes -=
		result->added_bytes < refill->room_bytes ? result->added_bytes : refill->room_bytes;
	if (request->took)
		request->took(request->context, result);
	jw_result_free(result);
	return 0;
}

int refill_from_packs(struct jw_error *err, const struct refill_request *request,
					  struct jw_store_refilled *ret_refilled)
{
	const struct jw_system *system = request->system;
	const struct jw_store_options where = {.state_dir = system->state_dir,
										   .folder = request->folder};
	struct refill refill = {.request = request};
	struct jw_store *store = NULL;
	char *folder;
	int result = 0;

	*ret_refilled = (struct jw_store_refilled){0};
	if (!system->cache.path || !system->driver.stamp[0] ||
		system->driver.trust == JW_TRUST_OPAQUE || !request->count)
		return 0;
	folder = store_path(err, &where);
	if (!folder)
		return -1;
	if (jw_store_open(err, &where, &store) ||
		import_free_room(err, system->cache.path, system->cache.limit_bytes, &refill.room_bytes))
		result = -1;
	for (size_t i = 0; store && i < request->count; i++) {
		set_add(&refill.asked, request->keys[i], i);
		if (request->key_bytes)
			set_put(&refill.lengths, request->key_bytes[i], i);
	}
	/* The newest pack comes first, so the oldest is left out when there is no more room. */
	for (size_t i = store ? store->count : 0; !result && i-- > 0;) {
		const struct jw_store_pack *pack = &store->packs[i];
		char *path;

		result = cancel_check(err, &request->cancel);
		if (result)
			break;
		if (pack->damage[0]) {
			note_refill(&refill, "%s", pack->damage);
			continue;
		}
		path = os_join(store->path, pack->name);
		if (count_useful(&refill, path) && !request->dry_run)
			result = refill_from(err, &refill, path);
		mem_free(path);
	}
	if (!result)
		*ret_refilled = refill.done;
	set_free(&refill.asked);
	set_free(&refill.counted);
	set_free(&refill.lengths);
	jw_result_free(store);
	mem_free(folder);
	return result;
}

int jw_store_refill(struct jw_error *err, const struct jw_store_refill_options *options,
					struct jw_store_refilled *ret_refilled)
{
	const struct jw_system *system = options->system;
	const struct refill_request request = {.system = system,
										   .folder = options->folder,
										   .shown = options->shown,
										   .keys = options->keys,
										   .identities = options->identities,
										   .count = options->count,
										   .dry_run = options->dry_run,
										   .found = options->found,
										   .cancel = options->cancel};
	const struct jw_store_options where = {.state_dir = system->state_dir};
	char *folder = options->folder ? NULL : store_path(NULL, &where);
	struct os_file *lock = NULL;
	int result;

	/* While packs are removed, a listed pack may be missing; without the lock only that pack is
	 * lost. */
	if (!options->dry_run && folder && os_exists(folder))
		(void)store_lock(NULL, system->state_dir, &lock);
	result = refill_from_packs(err, &request, ret_refilled);
	os_file_close(lock);
	mem_free(folder);
	return result;
}
