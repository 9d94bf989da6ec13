#include "os/identity.h"

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/win32/win32.h"

/* After windows.h, whose types it needs */
#include <sddl.h>

union token_user {
	TOKEN_USER user;
	BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
};

static bool own_user(union token_user *ret_user)
{
	DWORD size = 0;
	HANDLE token;
	bool result;

	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
		return false;
	result = GetTokenInformation(token, TokenUser, ret_user, sizeof *ret_user, &size) != 0;
	(void)CloseHandle(token);
	return result;
}

/* An administrator's programs use the same folders with and without elevation; the only account
 * whose cache is never the user's is LocalSystem, which services and tasks may use. */
static bool is_local_system(void)
{
	union token_user user;

	return own_user(&user) && IsWellKnownSid(user.user.User.Sid, WinLocalSystemSid);
}

int os_account_id(struct jw_error *err, char **ret_id)
{
	union token_user user;
	wchar_t *wide;
	char *id;

	if (!own_user(&user) || !ConvertSidToStringSidW(user.user.User.Sid, &wide))
		return win32_error(err, "this account");
	id = win32_utf8(err, wide);
	(void)LocalFree(wide);
	if (!id)
		return -1;
	*ret_id = id;
	return 0;
}

int os_account(struct jw_error *err, struct os_account *ret_account)
{
	(void)err;
	*ret_account = (struct os_account){.superuser = is_local_system()};
	return 0;
}

int os_become_account(struct jw_error *err, const struct jw_account *account)
{
	(void)account;
	return error_set(err, JW_ERR_UNSUPPORTED, "there is no sudo on Windows");
}

void os_account_free(struct os_account *account)
{
	mem_free(account->sudo_user);
	mem_free(account->sudo_home);
	*account = (struct os_account){0};
}

/* A restricted token passes an access check only if both its own groups and the restricting SIDs
 * do: with the account's SID among the latter, and no privilege (backup and restore ignore access
 * lists), it allows what both may do. Source: Microsoft, "Restricted Tokens". */
int os_act_as_account(struct jw_error *err, const struct jw_account *account)
{
	static const WELL_KNOWN_SID_TYPE everyones[] = {WinWorldSid, WinAuthenticatedUserSid,
													WinBuiltinUsersSid};
	enum { GROUPS = sizeof everyones / sizeof *everyones };
	union sid_room groups[GROUPS];
	SID_AND_ATTRIBUTES allowed[GROUPS + 1] = {0};
	wchar_t *wide = win32_wide(err, account->id);
	HANDLE ours = NULL, lesser = NULL;
	PSID sid = NULL;
	int result = -1;

	if (!wide)
		return -1;
	if (!ConvertStringSidToSidW(wide, &sid)) {
		win32_error(err, account->name);
		goto done;
	}
	allowed[0].Sid = sid;
	for (size_t i = 0; i < GROUPS; i++) {
		DWORD size = sizeof groups[i];

		allowed[i + 1].Sid = &groups[i];
		if (!CreateWellKnownSid(everyones[i], NULL, &groups[i], &size)) {
			win32_error(err, account->name);
			goto done;
		}
	}
	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY | TOKEN_DUPLICATE | TOKEN_IMPERSONATE,
						  &ours) ||
		!CreateRestrictedToken(ours, DISABLE_MAX_PRIVILEGE, 0, NULL, 0, NULL, GROUPS + 1, allowed,
							   &lesser) ||
		!ImpersonateLoggedOnUser(lesser))
		win32_error(err, account->name);
	else
		result = 0;
done:
	if (ours)
		(void)CloseHandle(ours);
	if (lesser)
		(void)CloseHandle(lesser);
	(void)LocalFree(sid);
	mem_free(wide);
	return result;
}

void os_act_as_self(void)
{
	(void)RevertToSelf();
}
