#include "cli/parts/driver_caches.h"

#include <string.h>

#include <jitwarm/tune.h>

#include "base/mem.h"
#include "os/accounts.h"
#include "os/file.h"
#include "os/folders.h"

enum { MOST_CACHES = ACCOUNTS_MOST + 4096 };

/* Takes `path` over. */
static int add_cache(struct jw_error *err, struct driver_caches *caches, char *path,
					 const struct jw_account *account)
{
	for (size_t i = 0; i < caches->count; i++)
		if (!strcmp(caches->items[i].path, path)) {
			mem_free(path);
			return 0;
		}
	if (VEC_ROOM(err, caches->items, caches->capacity, caches->count, MOST_CACHES)) {
		mem_free(path);
		return -1;
	}
	caches->items[caches->count++] = (struct driver_cache){path, account};
	return 0;
}

static int add_named_cache(struct jw_error *err, struct driver_caches *caches)
{
	struct jw_settings *settings;
	int result = 0;

	if (jw_settings_read(err, &settings))
		return -1;
	for (size_t i = 0; !result && i < settings->count; i++) {
		const struct jw_setting *setting = &settings->items[i];
		char *path;

		if (setting->unset || strcmp(setting->name, "CUDA_CACHE_PATH") != 0 ||
			!os_is_absolute(setting->value))
			continue;
		path = mem_string(err, setting->value);
		result = path ? add_cache(err, caches, path, NULL) : -1;
	}
	jw_settings_free(settings);
	return result;
}

static int add_accounts(struct jw_error *err, struct driver_caches *caches)
{
	if (jw_accounts_people(err, &caches->accounts))
		return -1;
	for (size_t i = 0; i < caches->accounts.count; i++) {
		char *path;

		if (os_account_cache_dir(err, &caches->accounts.items[i], &path) ||
			add_cache(err, caches, path, &caches->accounts.items[i]))
			return -1;
	}
	return 0;
}

int driver_caches_all(struct jw_error *err, struct driver_caches *ret_caches)
{
	struct driver_caches caches = {0};
	char *path;

	/* An account without a home has no cache. */
	if ((!os_driver_cache_dir(NULL, NULL, &path) && add_cache(err, &caches, path, NULL)) ||
		add_named_cache(err, &caches) || (jw_is_administrator() && add_accounts(err, &caches))) {
		driver_caches_free(&caches);
		return -1;
	}
	*ret_caches = caches;
	return 0;
}

void driver_caches_free(struct driver_caches *caches)
{
	for (size_t i = 0; i < caches->count; i++)
		mem_free(caches->items[i].path);
	mem_free(caches->items);
	jw_accounts_free(&caches->accounts);
	*caches = (struct driver_caches){0};
}
