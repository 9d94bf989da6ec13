#include "compile/compiler_trust.h"

#include <string.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/private.h"

static int is_superuser(struct jw_error *err, bool *ret_superuser)
{
	struct os_account account;

	if (os_account(err, &account))
		return -1;
	*ret_superuser = account.superuser;
	os_account_free(&account);
	return 0;
}

int compiler_check_trust(struct jw_error *err, const char *path)
{
	bool superuser;

	if (is_superuser(err, &superuser))
		return -1;
	if (!superuser || !os_check_private(err, path, 0, false))
		return 0;
	return error_prefix(err,
						"%s is not run as root; run jitwarm as the account that it belongs to, or "
						"install a CUDA toolkit where root alone may write",
						path);
}

/* An empty member is the current folder. */
static int check_in(struct jw_error *err, const char *folder, const char *name, bool *ret_found)
{
	char *path = os_join(err, *folder ? folder : ".", name);
	int result = path ? 0 : -1;

	*ret_found = path && os_exists(path);
	if (*ret_found)
		result = compiler_check_trust(err, path);
	mem_free(path);
	return result;
}

int compiler_check_name(struct jw_error *err, const char *name)
{
	char *list = os_env("LD_LIBRARY_PATH"), *at = list;
	bool found = false;
	int result = 0;

	while (at && !result && !found) {
		char *end = strpbrk(at, ":;");

		if (end)
			*end = '\0';
		result = check_in(err, at, name, &found);
		at = end ? end + 1 : NULL;
	}
	mem_free(list);
	return result;
}
