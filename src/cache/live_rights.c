/* With whose rights a cache is written to. */
#include "base/mem.h"
#include "cache/live.h"
#include "os/identity.h"

/* The owner of the cache: of its index, else of the directory or the nearest existing one above it.
 */
static int find_owner(struct jw_error *err, const struct cache_live *live, struct os_stat *ret_stat)
{
	char *path;

	if (!os_stat(NULL, live->index_path, ret_stat) && ret_stat->kind == OS_REGULAR)
		return 0;
	path = os_nearest(err, live->dir);
	if (!path)
		return -1;
	(void)os_stat(NULL, path, ret_stat);
	mem_free(path);
	return 0;
}

/* The superuser writes into another account's cache with that account's rights. New files then
 * belong to it, and a link that it may have planted leads no further than it could go itself. */
int live_choose_account(struct jw_error *err, struct cache_live *live)
{
	struct os_account account;
	struct os_stat stat = {0};
	bool superuser;

	live->as_owner = live->options.account != NULL;
	if (live->as_owner)
		return 0;
	if (os_account(err, &account))
		return -1;
	superuser = account.superuser;
	os_account_free(&account);
	if (!superuser)
		return 0;
	if (find_owner(err, live, &stat))
		return -1;
	live->owner = stat.owner;
	live->group = stat.group;
	live->as_owner = stat.owner != 0 && !os_act_as(NULL, stat.owner, stat.group);
	if (live->as_owner)
		os_act_as_self();
	return 0;
}

int live_enter(struct jw_error *err, const struct cache_live *live)
{
	return live->options.account ? os_act_as_account(err, live->options.account)
								 : os_act_as(err, live->owner, live->group);
}
