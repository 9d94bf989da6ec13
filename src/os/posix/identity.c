#include "os/identity.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/posix/posix.h"

int os_account(struct jw_error *err, struct os_account *ret_account)
{
	struct os_account account = {
		.superuser = geteuid() == 0, .owner = geteuid(), .group = getegid()};
	const char *name = getenv("SUDO_USER");
	struct passwd *user =
		account.superuser && name && *name && strcmp(name, "root") != 0 ? getpwnam(name) : NULL;

	if (user) {
		account.sudo_owner = user->pw_uid;
		account.sudo_group = user->pw_gid;
		account.sudo_user = mem_string(err, user->pw_name);
		account.sudo_home = mem_string(err, user->pw_dir);
		if (!account.sudo_user || !account.sudo_home) {
			os_account_free(&account);
			return -1;
		}
	}
	*ret_account = account;
	return 0;
}

int os_account_id(struct jw_error *err, char **ret_id)
{
	uv_passwd_t account;
	bool named = !posix_names_are_hostile() && !uv_os_get_passwd(&account);
	char *id = named ? mem_string(err, account.username)
					 : mem_printf(err, "%lu", (unsigned long)geteuid());

	if (named)
		uv_os_free_passwd(&account);
	if (!id)
		return -1;
	*ret_id = id;
	return 0;
}

void os_account_free(struct os_account *account)
{
	mem_free(account->sudo_user);
	mem_free(account->sudo_home);
	*account = (struct os_account){0};
}

int os_become_account(struct jw_error *err, const struct jw_account *account)
{
	static const char *const of_root[] = {"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
										  "XDG_CONFIG_HOME"};

	/* Groups first: without root they cannot be changed. */
	if (initgroups(account->name, account->group) || setgid(account->group) ||
		setuid(account->owner))
		return posix_error(err, account->name);
	for (size_t i = 0; i < sizeof of_root / sizeof *of_root; i++)
		(void)unsetenv(of_root[i]);
	if (os_env_set(err, "HOME", account->home) || os_env_set(err, "USER", account->name) ||
		os_env_set(err, "LOGNAME", account->name))
		return -1;
	return 0;
}

/* Root's own groups, while this process acts as another account. */
static struct {
	gid_t *items;
	int count;
} kept;

static int keep_groups(struct jw_error *err)
{
	int count = kept.items ? 0 : getgroups(0, NULL);
	gid_t *items;

	if (kept.items)
		return 0;
	items = count < 0 ? NULL : mem_array(err, (size_t)count + 1, sizeof *items);
	if (!items)
		return -1;
	kept.count = getgroups(count, items);
	if (kept.count < 0) {
		mem_free(items);
		return posix_error(err, "this account's groups");
	}
	kept.items = items;
	return 0;
}

int os_act_as_account(struct jw_error *err, const struct jw_account *account)
{
	if (keep_groups(err))
		return -1;
	if (!initgroups(account->name, account->group) && !setegid(account->group) &&
		!seteuid(account->owner))
		return 0;
	posix_error(err, "acting as another account");
	os_act_as_self();
	return -1;
}

void os_act_as_self(void)
{
	(void)!seteuid(getuid());
	(void)!setegid(getgid());
	if (kept.items)
		(void)!setgroups((size_t)kept.count, kept.items);
	mem_free(kept.items);
	kept.items = NULL;
}
