#include "os/private.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/win32/win32.h"

/* After windows.h, whose types they need */
#include <aclapi.h>
#include <sddl.h>

/* The Windows service that installs programs; it is not among the well-known SIDs. */
static const wchar_t installer[] =
	L"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";

enum { CHANGE_RIGHTS = WRITE_DAC | WRITE_OWNER | DELETE | GENERIC_WRITE | GENERIC_ALL };

/* Rights that change a file, add to the program's own folder (a library that it loads), or move a
 * parent folder away. */
enum place { PLACE_FILE, PLACE_FOLDER, PLACE_ABOVE };
static const DWORD harmful[] = {
	[PLACE_FILE] = CHANGE_RIGHTS | FILE_WRITE_DATA | FILE_APPEND_DATA,
	[PLACE_FOLDER] = CHANGE_RIGHTS | FILE_ADD_FILE | FILE_DELETE_CHILD,
	[PLACE_ABOVE] = CHANGE_RIGHTS | FILE_DELETE_CHILD,
};

struct access {
	PSECURITY_DESCRIPTOR descriptor;
	PSID owner;
	PACL list; /* NULL: everyone may do everything */
};

static int read_access(struct jw_error *err, const char *path, struct access *ret_access)
{
	wchar_t *wide = win32_path(err, path);
	DWORD reason;

	if (!wide)
		return -1;
	reason = GetNamedSecurityInfoW(
		wide, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
		&ret_access->owner, NULL, &ret_access->list, NULL, &ret_access->descriptor);
	mem_free(wide);
	SetLastError(reason);
	return reason ? win32_error(err, path) : 0;
}

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

/* The owner of the system's own folder can replace any program: under Wine that is its only
 * account. */
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

/* Name of an account or group, or its SID. */
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

static int refuse_sid(struct jw_error *err, const char *path, PSID sid, const char *what)
{
	char *name = sid_name(sid);

	(void)error_set(err, JW_ERR_IO, "%s %s %s", path, what, name ? name : "another account");
	mem_free(name);
	return -1;
}

/* Skips entries that only children inherit. Skips denials: they come first, and allow nothing. */
static int check_list(struct jw_error *err, const char *path, PACL list, DWORD rights)
{
	for (DWORD i = 0; i < list->AceCount; i++) {
		ACCESS_ALLOWED_ACE *entry;
		void *found;

		if (!GetAce(list, i, &found))
			return win32_error(err, path);
		entry = found;
		/* A conditional entry begins the same way. */
		if ((entry->Header.AceType == ACCESS_ALLOWED_ACE_TYPE ||
			 entry->Header.AceType == ACCESS_ALLOWED_CALLBACK_ACE_TYPE) &&
			!(entry->Header.AceFlags & INHERIT_ONLY_ACE) && (entry->Mask & rights) &&
			!is_trusted_sid(&entry->SidStart))
			return refuse_sid(err, path, &entry->SidStart, "may be changed by");
	}
	return 0;
}

static int check_private_place(struct jw_error *err, const char *path, enum place place)
{
	struct access access;
	int result;

	if (read_access(err, path, &access))
		return -1;
	if (!is_trusted_sid(access.owner))
		result = refuse_sid(err, path, access.owner, "belongs to");
	else if (!access.list)
		result = error_set(err, JW_ERR_IO, "%s may be changed by every account", path);
	else
		result = check_list(err, path, access.list, harmful[place]);
	(void)LocalFree(access.descriptor);
	return result;
}

int os_check_private(struct jw_error *err, const char *path, uint32_t owner, bool lasting)
{
	char *real = NULL;
	int result = os_real_path(err, path, &real);

	(void)owner;
	(void)lasting;
	for (enum place place = PLACE_FILE; !result; place = place ? PLACE_ABOVE : PLACE_FOLDER) {
		char *above;

		result = check_private_place(err, real, place);
		if (result || strlen(real) <= os_root_length(real))
			break;
		above = os_dir_name(err, real);
		mem_free(real);
		real = above;
		result = above ? 0 : -1;
	}
	mem_free(real);
	return result;
}
