/* Every account of the machine is listed with its number and its folder, also a moved one, and
 * without elevation nobody has an administrator's rights. */
#include "check.h"

#include <string.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/platform.h"

#ifdef _WIN32
#include <windows.h>
#endif

TEST(every_account_has_a_name_a_folder_and_a_number)
{
	struct jw_accounts accounts;

	OK(jw_accounts_people(why, &accounts));
	for (size_t i = 0; i < accounts.count; i++) {
		const struct jw_account *account = &accounts.items[i];

		assert_true(*account->name && os_is_absolute(account->home) && *account->id);
		assert_true(os_is_windows || account->owner != 0);
	}
	jw_accounts_free(&accounts);
	assert_int_equal(accounts.count, 0);
}

/* The process has the rights of a console that was not elevated. */
TEST(without_elevation_there_are_no_administrators_rights)
{
#ifndef _WIN32
	skip();
#else
	union {
		SID sid;
		BYTE room[SECURITY_MAX_SID_SIZE];
	} administrators;
	DWORD size = sizeof administrators;
	SID_AND_ATTRIBUTES denied = {.Sid = &administrators};
	HANDLE ours, lesser;

	assert_true(CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, &administrators, &size));
	assert_true(OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &ours));
	assert_true(CreateRestrictedToken(ours, 0, 1, &denied, 0, NULL, 0, NULL, &lesser));
	assert_true(jw_is_administrator());
	assert_true(ImpersonateLoggedOnUser(lesser));
	assert_false(jw_is_administrator());
	assert_true(RevertToSelf());
	assert_true(jw_is_administrator());
	(void)CloseHandle(lesser);
	(void)CloseHandle(ours);
#endif
}

#ifdef _WIN32
/* The registry of a logged-on account has its value for %APPDATA%, and thus that folder. */
#define EXPLORER L"Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\"

static void set_text(HKEY root, const wchar_t *key, const wchar_t *name, DWORD type,
					 const wchar_t *text)
{
	if (text)
		assert_int_equal(RegSetKeyValueW(root, key, name, type, text,
										 (DWORD)((wcslen(text) + 1) * sizeof *text)),
						 0);
	else
		(void)RegDeleteKeyValueW(root, key, name);
}

static void check_cache_of(const struct jw_account *account, const char *wanted)
{
	char *path = NULL;

	/* On a server, the administrator would log on for the account. */
	if (!strncmp(wanted, "\\\\", 2)) {
		GIVES(JW_ERR_UNSUPPORTED, os_account_cache_dir(why, account, &path));
		assert_null(path);
		return;
	}
	OK(os_account_cache_dir(why, account, &path));
	assert_string_equal(path, wanted);
	mem_free(path);
}
#endif

TEST(a_moved_folder_is_found_where_the_registry_is_loaded)
{
#ifndef _WIN32
	skip();
#else
	static const wchar_t key[] = L"S-1-5-21-9-8-7-2001";
	char name[] = "이서연", home[] = "C:\\users\\이서연", id[] = "S-1-5-21-9-8-7-2001";
	const struct jw_account account = {.name = name, .home = home, .id = id};
	static const char usual[] = "C:\\users\\이서연\\AppData\\Roaming\\NVIDIA\\ComputeCache";
	static const struct {
		const wchar_t *moved, *as_was; /* "User Shell Folders", "Shell Folders" */
		const char *wanted;            /* NULL: the usual place */
	} cases[] = {
		{L"%USERPROFILE%\\AppData\\Roaming", NULL, NULL},
		{L"\\\\server\\profiles", L"C:\\x", "\\\\server\\profiles\\NVIDIA\\ComputeCache"},
		{L"%userprofile%\\x", L"C:\\x", "C:\\users\\이서연\\x\\NVIDIA\\ComputeCache"},
		{L"D:\\데이터 😀", NULL, "D:\\데이터 😀\\NVIDIA\\ComputeCache"},
		{L"%HOMESHARE%\\AppData", L"\\\\server\\home\\AppData",
		 "\\\\server\\home\\AppData\\NVIDIA\\ComputeCache"},
		{NULL, L"F:\\as it was", "F:\\as it was\\NVIDIA\\ComputeCache"},
		/* Unknown folders of that account are not replaced by this account's. */
		{L"%APPDATA%\\x", NULL, NULL},
		{L"%NOSUCH%\\x", L"F:\\as it was", "F:\\as it was\\NVIDIA\\ComputeCache"},
		{L"100%", NULL, NULL},
		{L"relative", NULL, NULL},
		{L"\\of no drive", NULL, NULL},
		{L"", L"", NULL},
	};
	HKEY root;

	check_cache_of(&account, usual);
	assert_int_equal(
		RegCreateKeyExW(HKEY_USERS, key, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &root, NULL), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		set_text(root, EXPLORER L"User Shell Folders", L"AppData", REG_EXPAND_SZ, cases[i].moved);
		set_text(root, EXPLORER L"Shell Folders", L"AppData", REG_SZ, cases[i].as_was);
		check_cache_of(&account, cases[i].wanted ? cases[i].wanted : usual);
	}
	assert_int_equal(RegDeleteTreeW(root, NULL), 0);
	(void)RegCloseKey(root);
	assert_int_equal(RegDeleteKeyW(HKEY_USERS, key), 0);
	check_cache_of(&account, usual);
#endif
}

/* Uses the system's own call, even if a profile names another folder. */
TEST(our_own_folder_is_asked_for)
{
	char name[] = "ourselves", home[] = "C:\\nowhere";
	struct jw_account account = {.name = name, .home = home};
	char *usual = NULL, *path = NULL;

	if (!os_is_windows)
		skip();
	OK(os_account_id(why, &account.id));
	OK(os_driver_cache_dir(why, NULL, &usual));
	OK(os_account_cache_dir(why, &account, &path));
	assert_string_equal(path, usual);
	mem_free(path);
	mem_free(usual);
	mem_free(account.id);
}

RUN_TESTS(NULL, NULL)
