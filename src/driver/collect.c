#include "driver/collect.h"

#include "base/mem.h"
#include "cache/entry.h"
#include "cache/insert.h"
#include "cache/view.h"
#include "os/file.h"

/* less than any entry with its index needs */
enum { FULL_BYTES = 16 << 10 };

/* A folder of the cache that is missing at each of this many tries is being removed on purpose. */
enum { MAX_TRIES = 10 };

static bool is_predicted(const struct plan *plan, uint64_t key)
{
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].key == key)
			return true;
	return false;
}

/* Looks for an entry with a name that no module of the plan has; the path stays NULL if there is
 * none. The worker may have begun its next job, so the entry of another module is expected. Called
 * only after a prediction failed. */
static int find_foreign(struct jw_error *err, const struct plan *plan, const char *dir,
						struct collected *found)
{
	struct cache_files files;
	struct jw_error why = {0};

	if (cache_files_scan(&why, dir, /* headers= */ true, NULL, &files))
		return error_unless_missing(err, &why);
	for (size_t i = 0; i < files.count && !found->path; i++) {
		if (is_predicted(plan, files.files[i].key))
			continue;
		found->key = files.files[i].key;
		found->path = cache_entry_path(dir, found->key);
	}
	cache_files_free(&files);
	return 0;
}

int collect_insert(struct jw_error *err, struct cache_live *live, const struct collected *collected,
				   const struct plan *plan, const struct plan_module *module,
				   int64_t *ret_grown_bytes)
{
	struct cache_addition addition = {
		.path = collected->path,
		.key = collected->key,
		.key_bytes = collected->key == module->key ? module->key_bytes : 0,
		.identity = collected->key == module->key ? &module->identity : NULL,
		.sm = plan->targets[module->target].device.sm,
		.form = module->form,
	};
	struct jw_error why = {0};
	int result = -1;

	/* A new try makes a missing folder again: the cache may be removed, or wiped by a driver,
	 * between any two steps. */
	for (int tries = 0; result && tries < MAX_TRIES; tries++) {
		result = cache_insert(&why, live, &addition, 1);
		if (result && why.code != JW_ERR_NOT_FOUND)
			break;
	}
	if (result)
		return error_copy(err, &why);
	if (addition.added == CACHE_ADDED_REFUSED)
		return error_set(err, JW_ERR_FORMAT, "the driver's entry is not sound: %s",
						 addition.why.message);
	if (addition.added == CACHE_ADDED_TAKEN) {
		(void)error_copy(err, &addition.why);
		return 1;
	}
	(void)os_remove(NULL, addition.path);
	*ret_grown_bytes = addition.grown_bytes;
	return 0;
}

bool collect_disk_is_full(struct jw_error *err, const char *private_dir, uint64_t wanted_bytes)
{
	struct os_space space;

	if (os_space(NULL, private_dir, &space) || space.free_bytes >= FULL_BYTES + wanted_bytes)
		return false;
	error_set(err, JW_ERR_IO,
			  "%s: the disk is full: the driver has no space for its entries; free some space, or "
			  "set JITWARM_STATE to a folder on another disk",
			  private_dir);
	return true;
}

int collect_find(struct jw_error *err, const char *private_dir, const struct plan *plan,
				 const struct plan_module *module, unsigned at_once,
				 struct collected *ret_collected)
{
	struct collected collected = {COLLECTED, cache_entry_path(private_dir, module->key),
								  module->key};
	bool there;

	if (os_check_exists(err, collected.path, &there)) {
		mem_free(collected.path);
		return -1;
	}
	if (!there) {
		mem_free(collected.path);
		collected.path = NULL;
		if (find_foreign(err, plan, private_dir, &collected))
			return -1;
		collected.what = collected.path ? COLLECTED_FOREIGN : COLLECTED_NOTHING;
	}
	/* The disk was full if twice as much as the workers write at once does not fit now: the driver
	 * deletes an entry that did not fit, so some space is free again. */
	if (collected.what == COLLECTED_NOTHING &&
		collect_disk_is_full(err, private_dir, 2 * at_once * module->entry_bytes))
		return -1;
	*ret_collected = collected;
	return 0;
}
