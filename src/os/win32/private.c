#include "os/private.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/path_calls.h"
#include "os/win32/access_list.h"
#include "os/win32/opening.h"
#include "os/win32/win32.h"

/* After windows.h, whose types they need */
#include <aclapi.h>
#include <sddl.h>

/* The Windows service that installs programs; it is not among the well-known SIDs. */
static const wchar_t installer[] =
	L"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";

enum { CHANGE_RIGHTS = WRITE_DAC | WRITE_OWNER | DELETE | GENERIC_WRITE | GENERIC_ALL };

/* Source: Microsoft, "File Security and Access Rights", FSCTL_SET_REPARSE_POINT. */
static const DWORD harmful[] = {
	[WIN32_FILE] = CHANGE_RIGHTS | FILE_WRITE_DATA | FILE_APPEND_DATA,
	[WIN32_FOLDER] = CHANGE_RIGHTS | FILE_ADD_FILE | FILE_DELETE_CHILD,
	[WIN32_ABOVE] = CHANGE_RIGHTS | FILE_DELETE_CHILD,
	[WIN32_LINK] = CHANGE_RIGHTS | FILE_WRITE_DATA | FILE_WRITE_ATTRIBUTES,
};

static bool is_installer(PSID sid)
{
	wchar_t *text;
	bool is = ConvertSidToStringSidW(sid, &text) != 0;

	if (is) {
		is = !wcscmp(text, installer);
		(void)LocalFree(text);
	}
	return is;
}

/* The owner of the system's own folder can replace any program: Wine's only account */
static bool owns_system(PSID sid)
{
	wchar_t folder[MAX_PATH];
	PSECURITY_DESCRIPTOR descriptor;
	PSID owner;
	const UINT length = GetSystemDirectoryW(folder, MAX_PATH);
	bool is;

	if (!length || length >= MAX_PATH ||
		GetNamedSecurityInfoW(folder, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL,
							  NULL, NULL, &descriptor))
		return false;
	is = EqualSid(sid, owner) != 0;
	(void)LocalFree(descriptor);
	return is;
}

static bool is_trusted_sid(PSID sid)
{
	return IsWellKnownSid(sid, WinBuiltinAdministratorsSid) ||
		   IsWellKnownSid(sid, WinLocalSystemSid) || is_installer(sid) || owns_system(sid);
}

/* Returns the name of an account or group, or its SID. */
static char *sid_name(PSID sid)
{
	enum { NAME = 256 };
	wchar_t name[NAME], domain[NAME], *text;
	DWORD name_length = NAME, domain_length = NAME;
	SID_NAME_USE use;
	char *result;

	if (LookupAccountSidW(NULL, sid, name, &name_length, domain, &domain_length, &use))
		return win32_utf8(NULL, name);
	if (!ConvertSidToStringSidW(sid, &text))
		return NULL;
	result = win32_utf8(NULL, text);
	(void)LocalFree(text);
	return result;
}

static int refuse_sid(struct jw_error *err, const char *path, PSID sid, bool owns)
{
	char *name = sid_name(sid);

	(void)error_set(err, JW_ERR_IO, owns ? "%s belongs to %s" : "%s may be changed by %s", path,
					name ? name : "another account");
	mem_free(name);
	return -1;
}

/* Skips entries that only children inherit, and denials, which come first and allow nothing. */
static int check_list(struct jw_error *err, const char *path, PACL list, DWORD rights)
{
	for (DWORD i = 0; i < list->AceCount; i++) {
		ACCESS_ALLOWED_ACE *entry;
		void *found;

		if (!GetAce(list, i, &found))
			return win32_error(err, path);
		entry = found;
		/* A conditional entry begins in the same way. */
		if ((entry->Header.AceType == ACCESS_ALLOWED_ACE_TYPE ||
			 entry->Header.AceType == ACCESS_ALLOWED_CALLBACK_ACE_TYPE) &&
			!(entry->Header.AceFlags & INHERIT_ONLY_ACE) && (entry->Mask & rights) &&
			!is_trusted_sid(&entry->SidStart))
			return refuse_sid(err, path, &entry->SidStart, false);
	}
	return 0;
}

int win32_check_trust(struct jw_error *err, HANDLE handle, const char *path, enum win32_place place)
{
	PSECURITY_DESCRIPTOR descriptor = NULL;
	PSID owner;
	PACL list; /* NULL if everyone may do everything */
	DWORD reason = GetSecurityInfo(handle, SE_FILE_OBJECT,
								   OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner,
								   NULL, &list, NULL, &descriptor);
	int result;

	SetLastError(reason);
	if (reason)
		return win32_error(err, path);
	if (!is_trusted_sid(owner))
		result = refuse_sid(err, path, owner, true);
	else if (!list)
		result = error_set(err, JW_ERR_IO, "%s may be changed by every account", path);
	else
		result = check_list(err, path, list, harmful[place]);
	(void)LocalFree(descriptor);
	return result;
}

/* A file inherits its rights from its folder. */
int fd_set_rights(struct jw_error *err, int fd, const char *path, uint32_t mode, bool keep)
{
	(void)err;
	(void)fd;
	(void)path;
	(void)mode;
	(void)keep;
	return 0;
}

/* Checks the file itself; for a link, who may let it lead elsewhere. */
static int check_private_place(struct jw_error *err, const char *path, enum win32_place place)
{
	HANDLE handle = win32_open(err, path, READ_CONTROL, OPENING_LINK);
	int result;

	if (handle == INVALID_HANDLE_VALUE)
		return -1;
	result = win32_check_trust(err, handle, path, win32_is_link(handle, path) ? WIN32_LINK : place);
	(void)CloseHandle(handle);
	return result;
}

static int check_private_way(struct jw_error *err, const char *path)
{
	char *at = mem_string(path);
	int result = 0;

	for (enum win32_place place = WIN32_FILE; !result; place = place ? WIN32_ABOVE : WIN32_FOLDER) {
		char *above;

		result = check_private_place(err, at, place);
		if (result || strlen(at) <= os_root_length(at))
			break;
		above = os_dir_name(at);
		mem_free(at);
		at = above;
	}
	mem_free(at);
	return result;
}

/* Checks the path as it is named, with its links, and the path that they lead to. */
int os_check_private(struct jw_error *err, const char *path, struct os_part *ret_part)
{
	char *nearest = os_nearest(path), *real = NULL;
	int result = os_real_path(err, nearest, &real);

	if (ret_part)
		*ret_part = (struct os_part){0};
	if (!result && os_is_absolute(nearest))
		result = check_private_way(err, nearest);
	if (!result)
		result = check_private_way(err, real);
	mem_free(nearest);
	mem_free(real);
	return result;
}

bool os_is_machine_root(void)
{
	return os_is_superuser();
}
