#include "state/own_state.h"

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"

/* Whether the nearest existing folder belongs to this account. */
static bool belongs_to(const char *path, uint32_t owner)
{
	char *nearest = os_nearest(NULL, path);
	struct os_stat stat;
	bool its = nearest && !os_stat(NULL, nearest, &stat) && stat.owner == owner;

	mem_free(nearest);
	return its;
}

int own_state_dir(struct jw_error *err, char **ret_path)
{
	struct os_account account;
	struct jw_error why = {0};
	char *path = NULL;

	*ret_path = NULL;
	if (os_state_dir(&why, &path))
		return why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
	if (os_account(err, &account)) {
		mem_free(path);
		return -1;
	}
	if (account.sudo_user && belongs_to(path, account.sudo_owner)) {
		mem_free(path);
		path = NULL;
	}
	os_account_free(&account);
	*ret_path = path;
	return 0;
}
