/* The caches of other accounts than the one that is meant, and becoming that one. */
#include <jitwarm/accounts.h>

#include <string.h>

#include "base/mem.h"
#include "cache/outlook.h"
#include "cache/settings.h"
#include "os/accounts.h"
#include "os/env.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/platform.h"

enum { MOST_CACHES = 1024 };

/* sudo -E keeps the caller's HOME; that cache is then written with the caller's rights. */
static bool has_callers_home(const struct os_account *account)
{
	char *home = os_env("HOME");
	bool has = home && !strcmp(home, account->sudo_home);

	mem_free(home);
	return has;
}

int jw_account_doubt(struct jw_error *err, char **ret_line)
{
	struct os_account account;
	char *line = NULL;
	bool doubtful = true;

	if (os_account(err, &account))
		return -1;
	if (account.sudo_user && !has_callers_home(&account))
		line = mem_printf(err,
						  "under sudo this warms root's cache, not that of %s: run it without "
						  "sudo, or with --sudo-user",
						  account.sudo_user);
	else if (account.superuser && !strcmp(os_name, "windows"))
		line = mem_string(err, "this runs as SYSTEM, whose cache no user's program reads: run it "
							   "in the user's own account");
	else
		doubtful = false;
	os_account_free(&account);
	if (doubtful && !line)
		return -1;
	*ret_line = line;
	return 0;
}

int jw_become_sudo_user(struct jw_error *err)
{
	struct os_account account;
	int result;

	if (os_account(err, &account))
		return -1;
	result = account.sudo_user
				 ? os_become_account(err, &(struct jw_account){.name = account.sudo_user,
															   .home = account.sudo_home,
															   .owner = account.sudo_owner,
															   .group = account.sudo_group})
				 : error_set(err, JW_ERR_USAGE, "--sudo-user: this is not run through sudo");
	os_account_free(&account);
	return result;
}

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
		struct jw_error why = {0};
		char *path;

		if (os_account_cache_dir(&why, &accounts.items[i], &path))
			result = why.code == JW_ERR_UNSUPPORTED ? 0 : error_copy(err, &why);
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
