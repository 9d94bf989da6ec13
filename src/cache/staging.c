#include "cache/staging.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"

int staging_begin(struct jw_error *err, const struct cache_live *live, struct live_staged *staged,
				  size_t number)
{
	mem_free(staged->path);
	staged->path = mem_printf(err, "%s/%zu", live->staging, number);
	/* A process that removes the cache also removes the folder beside its tree. */
	return staged->path && (os_exists(live->staging) || !os_make_dirs(err, live->staging, 0700)) &&
				   !os_make_shared_parent(err, staged->target, 0700 | live->shared)
			   ? 0
			   : -1;
}

int staging_share(struct jw_error *err, const struct cache_live *live,
				  const struct live_staged *staged)
{
	return live->shared ? os_set_mode(err, staged->path, 0600 | (live->shared & 066)) : 0;
}

void staging_give_back(struct live_staged *staged)
{
	if (!staged->taken || os_rename(NULL, staged->path, staged->addition->path))
		(void)os_remove(NULL, staged->path);
	mem_free(staged->path);
	staged->path = NULL;
	staged->taken = false;
}

void staging_end(struct live_staged *staged)
{
	if (staged->path && !staged->moved)
		staging_give_back(staged);
	mem_free(staged->path);
	mem_free(staged->target);
	*staged = (struct live_staged){0};
}

/* The driver does not heal an entry whose cubin it cannot load: the application fails with it at
 * every start (docs/driver-cache.md, "Values"). So each is judged before it is inserted. */
int staging_judge(struct jw_error *err, const struct cache_addition *addition,
				  const struct cache_entry *entry, uint64_t name, uint64_t checksum,
				  cubin_read_fn read, void *context)
{
	struct cubin_header cubin;

	if (addition->key_bytes && entry->key_bytes != addition->key_bytes)
		return error_set(err, JW_ERR_FORMAT, "its key has %llu bytes, not %llu",
						 (unsigned long long)entry->key_bytes,
						 (unsigned long long)addition->key_bytes);
	if (addition->verified)
		return 0;
	if (name != addition->key || checksum != entry->checksum)
		return error_set(
			err, JW_ERR_FORMAT, "%s",
			cache_damage_text(name != addition->key ? CACHE_DAMAGE_NAME : CACHE_DAMAGE_VALUE));
	if (cubin_read_by(err, read, context, entry->value_bytes, &cubin))
		return -1;
	if (cubin.sm != addition->sm)
		return error_set(err, JW_ERR_FORMAT, "its cubin is for sm_%u, not sm_%u",
						 (unsigned)cubin.sm, (unsigned)addition->sm);
	if (cubin.relocatable != (addition->form == CACHE_KEY_LINK))
		return error_set(err, JW_ERR_FORMAT, "its cubin is %srelocatable",
						 cubin.relocatable ? "" : "not ");
	return 0;
}

void staging_clean(const char *dir)
{
	os_sweep(dir, CACHE_STAGING_PREFIX, "%", OS_DIRECTORY, 3600);
}
