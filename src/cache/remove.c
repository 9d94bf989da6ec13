#include "cache/remove.h"

#include <uv.h>

#include "base/mem.h"
#include "cache/live.h"
#include "os/identity.h"

bool cache_probed_equal(const struct cache_probed *a, const struct cache_probed *b)
{
	return a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
		   a->key_bytes == b->key_bytes && a->value_bytes == b->value_bytes &&
		   a->checksum == b->checksum && a->damage == b->damage;
}

/* Drivers write entries while they hold the lock, and we hold it: no entry is half written now. */
static int remove_one(struct jw_error *err, struct cache_live *live, struct cache_removal *removal)
{
	enum cache_presence presence;
	struct cache_probed now;
	size_t row;
	char *path;
	int result;

	if (cache_look_up(err, live->dir, removal->key, 0, &now, &presence))
		return -1;
	if (presence == CACHE_ABSENT) {
		removal->removed = CACHE_REMOVED_GONE;
	} else if (!cache_probed_equal(&now, &removal->probed)) {
		removal->removed = CACHE_REMOVED_CHANGED;
		return 0;
	} else {
		path = cache_entry_path(err, live->dir, removal->key);
		result = path ? os_remove(err, path) : -1;
		mem_free(path);
		if (result)
			return -1;
		removal->removed = CACHE_REMOVED;
	}
	row = live_row(live, removal->key);
	if (row != SET_NONE)
		live_drop_row(live, row);
	return 0;
}

/* Removes as many as fit into one hold of the lock. The rows of removed files go even if another
 * removal fails. */
static int remove_some(struct jw_error *err, struct cache_live *live,
					   struct cache_removal *removals, size_t count, size_t *ret_done)
{
	size_t done = 0;
	int result = 0;

	if (live_lock_sound(err, live))
		return -1;
	while (!result && done < count && (!done || !live_must_let_go(live))) {
		result = remove_one(err, live, &removals[done]);
		done += !result;
	}
	if (live_unlock(result ? NULL : err, live))
		result = -1;
	*ret_done = done;
	return result;
}

int cache_remove(struct jw_error *err, struct cache_live *live, struct cache_removal *removals,
				 size_t count)
{
	int result = 0;

	if (live->as_account && os_act_as_account(err, live->options.account))
		return -1;
	for (size_t i = 0; i < count; i++)
		removals[i].removed = CACHE_REMOVED_NOT;
	for (size_t at = 0, done = 0; !result && at < count; at += done) {
		result = remove_some(err, live, removals + at, count - at, &done);
		if (!result && at + done < count)
			uv_sleep(CACHE_HOLD_MS);
	}
	if (live->as_account)
		os_act_as_self();
	return result;
}

int cache_remove_settle(struct jw_error *err, struct cache_live *live)
{
	int result = live->as_account ? os_act_as_account(err, live->options.account) : 0;

	if (result)
		return -1;
	uv_sleep(LIVE_LATE_WRITE_MS);
	result = live_repair(err, live);
	if (live->as_account)
		os_act_as_self();
	return result;
}
