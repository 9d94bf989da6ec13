#include "state/kept_for.h"

#include "base/mem.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/private.h"

int state_check_writers(struct jw_error *err, const char *path, uint32_t owner)
{
	struct os_account account;
	bool superuser;

	if (os_account(err, &account))
		return -1;
	superuser = account.superuser;
	os_account_free(&account);
	return superuser ? os_check_private(err, path, owner, false) : 0;
}

int state_check_kept_for(struct jw_error *err, const char *path, const char *place)
{
	char *nearest = place ? os_nearest(err, place) : NULL;
	struct os_stat stat = {0};

	/* What cannot be looked at counts as the superuser's. */
	if (nearest && os_stat(NULL, nearest, &stat))
		stat.owner = 0;
	mem_free(nearest);
	return place && !nearest ? -1 : state_check_writers(err, path, stat.owner);
}
