#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "cache/outlook.h"
#include "cache/settings.h"
#include "os/accounts.h"
#include "os/file.h"

enum { MOST_CACHES = 1024 };

void jw_other_caches_free(struct jw_other_cache *caches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		mem_free(caches[i].account);
		mem_free(caches[i].path);
	}
	mem_free(caches);
}

/* Takes `path` over. */
static int add_account_cache(struct jw_error *err, struct jw_other_cache *caches, size_t *count,
							 const char *account, char *path)
{
	struct jw_other_cache *cache = &caches[*count];
	struct jw_cache_outlook outlook;

	cache->path = path;
	cache->account = mem_string(err, account);
	(*count)++;
	if (!cache->account)
		return -1;
	cache_outlook(path, CACHE_MOST_LIMIT, true, &outlook);
	cache->entries = outlook.entries;
	cache->size_bytes = outlook.bytes;
	return 0;
}

int jw_other_caches(struct jw_error *err, struct jw_other_cache **ret_caches, size_t *ret_count)
{
	struct jw_other_cache *caches = mem_array(err, MOST_CACHES, sizeof *caches);
	struct jw_accounts accounts = {0};
	size_t count = 0;
	int result = caches ? jw_accounts_services(err, &accounts) : -1;

	for (size_t i = 0; !result && i < accounts.count && count < MOST_CACHES; i++) {
		char *path;

		if (os_account_cache_dir(err, &accounts.items[i], &path))
			result = -1;
		else if (os_exists(path))
			result = add_account_cache(err, caches, &count, accounts.items[i].name, path);
		else
			mem_free(path);
	}
	jw_accounts_free(&accounts);
	if (result) {
		jw_other_caches_free(caches, count);
		return -1;
	}
	*ret_caches = caches;
	*ret_count = count;
	return 0;
}
