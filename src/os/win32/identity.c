#include <string.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
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

void os_trust_accounts(const char *list)
{
	(void)list;
}

bool os_find_stranger_before(const char *path, struct os_stranger *ret_stranger)
{
	return os_find_stranger(path, ret_stranger);
}

bool os_find_stranger(const char *path, struct os_stranger *ret_stranger)
{
	(void)path;
	*ret_stranger = (struct os_stranger){0};
	return false;
}

bool os_find_strangers_below(const char *folder, bool (*wanted)(const char *file),
							 struct os_stranger *ret_first, size_t most, char ***paths,
							 size_t *count)
{
	(void)wanted;
	(void)most;
	(void)paths;
	(void)count;
	return os_find_stranger(folder, ret_first);
}

bool os_opens_new_files(const char *folder)
{
	(void)folder;
	return false;
}

bool os_find_planted(const char *path, char ret_text[OS_STRANGER_TEXT])
{
	(void)path;
	(void)ret_text;
	return false;
}

bool os_may_enter(uint32_t account, const char *real)
{
	(void)account;
	(void)real;
	return true;
}

bool os_is_ours(const char *path)
{
	(void)path;
	return true;
}

const char *os_stranger_text(char text[OS_STRANGER_TEXT], const struct os_stranger *stranger)
{
	(void)stranger;
	text[0] = '\0';
	return text;
}

int os_work_as(struct jw_error *err, const struct jw_account *account, int keeps, unsigned most_s,
			   int (*work)(struct jw_error *err, void *context, struct buf *answer),
			   void (*slow)(void *context, long process), void *context, struct buf *answer)
{
	(void)slow;
	(void)account;
	(void)keeps;
	(void)most_s;
	return work(err, context, answer);
}

enum { MAX_ACCOUNT_NAME = 512 };

static const wchar_t profiles[] = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\ProfileList";

/* In the token of an administrator's unelevated console, the administrators' group only denies. */
bool jw_is_administrator(void)
{
	union sid_room administrators;
	DWORD size = sizeof administrators;
	BOOL is = FALSE;

	return CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, &administrators, &size) &&
		   CheckTokenMembership(NULL, &administrators, &is) && is;
}

/* Returns NULL if the account is gone; then its folder's name is used. */
static char *name_of_sid(const wchar_t *id)
{
	wchar_t name[MAX_ACCOUNT_NAME], domain[MAX_ACCOUNT_NAME];
	DWORD name_length = MAX_ACCOUNT_NAME, domain_length = MAX_ACCOUNT_NAME;
	SID_NAME_USE use;
	PSID sid;
	char *result = NULL;

	if (!ConvertStringSidToSidW(id, &sid))
		return NULL;
	if (LookupAccountSidW(NULL, sid, name, &name_length, domain, &domain_length, &use))
		result = win32_utf8(NULL, name);
	(void)LocalFree(sid);
	return result;
}

static char *home_of_profile(struct jw_error *err, HKEY list, const wchar_t *id)
{
	wchar_t *wide = mem_array(WIN32_MAX_PATH, sizeof *wide);
	DWORD size = WIN32_MAX_PATH * sizeof *wide;
	char *home = NULL;

	/* It usually begins with %SystemDrive%: RRF_RT_REG_SZ accepts that too, and expands it. */
	if (!RegGetValueW(list, id, L"ProfileImagePath", RRF_RT_REG_SZ, NULL, wide, &size))
		home = win32_shown(err, wide);
	mem_free(wide);
	return home;
}

static bool starts_with_any(const char *id, const char *const *starts)
{
	for (; *starts; starts++)
		if (text_starts(id, *starts))
			return true;
	return false;
}

static int add_profile(struct jw_error *err, HKEY list, const wchar_t *wide,
					   const char *const *starts, struct jw_accounts *accounts)
{
	char *id = win32_utf8(err, wide), *home, *name;

	if (!id)
		return -1;
	/* The second entry of a profile that could not be loaded is named "SID.bak"; skip it. */
	home =
		starts_with_any(id, starts) && !strchr(id, '.') ? home_of_profile(NULL, list, wide) : NULL;
	if (!home || !os_is_absolute(home) || !os_exists(home)) {
		mem_free(home);
		mem_free(id);
		return 0;
	}
	name = name_of_sid(wide);
	if (!name)
		name = mem_string(os_base_name(home));
	return accounts_add(err, accounts, &(struct jw_account){.name = name, .home = home, .id = id});
}

/* Reads the profiles whose SID begins with one of `starts` (NULL at the end). */
static int read_profiles(struct jw_error *err, const char *const *starts,
						 struct jw_accounts *accounts)
{
	wchar_t id[MAX_ACCOUNT_NAME];
	HKEY list;
	LSTATUS status =
		RegOpenKeyExW(HKEY_LOCAL_MACHINE, profiles, 0, KEY_READ | KEY_WOW64_64KEY, &list);
	int result = 0;

	if (status)
		return os_error_number(err, "the list of profiles", (int)status);
	for (DWORD i = 0; !result; i++) {
		DWORD length = MAX_ACCOUNT_NAME;

		status = RegEnumKeyExW(list, i, id, &length, NULL, NULL, NULL, NULL);
		if (status == ERROR_NO_MORE_ITEMS)
			break;
		if (!status)
			result = add_profile(err, list, id, starts, accounts);
		else if (status != ERROR_MORE_DATA)
			result = os_error_number(err, "the list of profiles", (int)status);
	}
	(void)RegCloseKey(list);
	return result;
}

int jw_accounts_people(struct jw_error *err, struct jw_accounts *ret_accounts)
{
	/* Accounts of this machine or a domain, and of Microsoft Entra (Azure AD). Source: Microsoft,
	 * "Security identifiers". */
	static const char *const starts[] = {"S-1-5-21-", "S-1-12-1-", NULL};
	struct jw_accounts accounts = {0};

	if (read_profiles(err, starts, &accounts)) {
		jw_accounts_free(&accounts);
		return -1;
	}
	*ret_accounts = accounts;
	return 0;
}

int os_find_account(struct jw_error *err, const char *name, uint32_t owner,
					struct jw_account *ret_account)
{
	(void)ret_account;
	return error_set(err, JW_ERR_UNSUPPORTED,
					 name ? "%.100s: run jitwarm in that account instead (runas)"
						  : "account %.0s%u is not known",
					 name ? name : "", owner);
}
