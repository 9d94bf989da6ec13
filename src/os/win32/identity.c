#include <jitwarm/accounts.h>

#include "os/identity.h"
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

bool os_is_superuser(void)
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

uint32_t os_own_account(void)
{
	return 0;
}

char *os_sudo_user(void)
{
	return NULL;
}

/* In the token of an administrator's unelevated console, the administrators' group only denies. */
bool jw_is_administrator(void)
{
	union sid_room administrators;
	DWORD size = sizeof administrators;
	BOOL is = FALSE;

	return CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, &administrators, &size) &&
		   CheckTokenMembership(NULL, &administrators, &is) && is;
}

int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct os_account *ret_account)
{
	(void)ret_account;
	return error_set(err, JW_ERR_UNSUPPORTED,
					 name ? "%.100s: run jitwarm in that account instead (runas)"
						  : "account %.0s%u is not known",
					 name ? name : "", owner);
}
