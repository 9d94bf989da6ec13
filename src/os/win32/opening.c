#include "os/win32/opening.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/win32/entries.h"
#include "os/win32/trust.h"

/* After windows.h, whose types they need */
#include <winioctl.h>
#include <winternl.h>

enum { MOST_LINKS = 31, MOST_LINK_SIZE = 16384, PREFIX = 4 };

/* As the calls of ntdll take it: \??\C:\... A separator at the end is left out. */
static wchar_t *native_path(struct jw_error *err, const char *path)
{
	wchar_t *text = win32_path(err, path);
	size_t units = text ? wcslen(text) : 0;

	if (!text)
		return NULL;
	text[1] = L'?'; /* \\?\ and \\.\ are the same to them */
	text[2] = L'?';
	while (units > PREFIX + 3 && text[units - 1] == L'\\')
		text[--units] = L'\0';
	return text;
}

static size_t part_units(const wchar_t *text)
{
	return wcscspn(text, L"\\");
}

static const wchar_t *behind_part(const wchar_t *text)
{
	text += part_units(text);
	return text + wcsspn(text, L"\\");
}

/* The part of a path that no folder holds: a drive or a volume, a share, or a device. */
static const wchar_t *behind_root(const wchar_t *text)
{
	const wchar_t *rest = behind_part(text + PREFIX);

	return _wcsnicmp(text + PREFIX, L"UNC\\", 4) != 0 ? rest : behind_part(behind_part(rest));
}

static bool is_device_path(const wchar_t *text)
{
	const wchar_t *name = text + PREFIX;

	return !(name[0] && name[1] == L':' && (!name[2] || name[2] == L'\\')) &&
		   _wcsnicmp(name, L"UNC\\", 4) != 0 && _wcsnicmp(name, L"Volume{", 7) != 0;
}

static HANDLE open_native(HANDLE folder, const wchar_t *name, size_t units, DWORD access,
						  DWORD share, ULONG disposition, ULONG options)
{
	union {
		const wchar_t *given;
		wchar_t *wanted; /* the call's type; it does not write there */
	} from = {.given = name};
	UNICODE_STRING text = {.Length = (USHORT)(units * sizeof *name),
						   .MaximumLength = (USHORT)(units * sizeof *name),
						   .Buffer = from.wanted};
	OBJECT_ATTRIBUTES what;
	IO_STATUS_BLOCK status;
	HANDLE handle;
	NTSTATUS result;

	if (units >= WIN32_MOST_PATH) {
		SetLastError(ERROR_FILENAME_EXCED_RANGE);
		return INVALID_HANDLE_VALUE;
	}
	InitializeObjectAttributes(&what, &text, OBJ_CASE_INSENSITIVE, folder, NULL);
	result =
		NtCreateFile(&handle, access | SYNCHRONIZE | FILE_READ_ATTRIBUTES, &what, &status, NULL,
					 FILE_ATTRIBUTE_NORMAL, share, disposition,
					 options | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT, NULL, 0);
	if (!NT_SUCCESS(result)) {
		SetLastError(RtlNtStatusToDosError(result));
		return INVALID_HANDLE_VALUE;
	}
	return handle;
}

bool win32_is_wine(void)
{
	const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");

	return ntdll && GetProcAddress(ntdll, "wine_get_version");
}

/* Wine has no links of its own, and opens those of the system below always as their targets: they
 * show in the path of what was opened. */
static bool leads_elsewhere(HANDLE folder, const wchar_t *name, size_t units, HANDLE opened)
{
	enum { MOST_BELOW = 4096 + 8 }; /* the system below has no longer paths */
	wchar_t above[MOST_BELOW], real[MOST_BELOW];
	const DWORD above_units = GetFinalPathNameByHandleW(folder, above, MOST_BELOW, 0);
	const DWORD real_units = GetFinalPathNameByHandleW(opened, real, MOST_BELOW, 0);
	size_t length = above_units;

	if (!above_units || above_units >= MOST_BELOW || !real_units || real_units >= MOST_BELOW)
		return true;
	length -= above[length - 1] == L'\\';
	return _wcsnicmp(above, real, length) != 0 || real[length] != L'\\' ||
		   _wcsnicmp(real + length + 1, name, units) != 0 || real[length + 1 + units];
}

static bool is_link_there(HANDLE folder, const wchar_t *name, size_t units, HANDLE opened)
{
	FILE_ATTRIBUTE_TAG_INFO info;

	if (GetFileInformationByHandleEx(opened, FileAttributeTagInfo, &info, sizeof info) &&
		info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)
		return true;
	return folder && win32_is_wine() && leads_elsewhere(folder, name, units, opened);
}

bool win32_is_link(const struct win32_at *at, HANDLE opened)
{
	return is_link_there(at->folder, at->name, wcslen(at->name), opened);
}

/* The path so far, for a message. */
static char *shown_until(struct jw_error *err, const struct win32_at *at, size_t units)
{
	const size_t length = (size_t)(at->name - at->text) + units;
	wchar_t *text = mem_array(length + 1, sizeof *text);
	char *shown = NULL;

	if (text) {
		memcpy(text, at->text, length * sizeof *text);
		text[1] = L'\\';
		shown = win32_shown(err, text);
	}
	mem_free(text);
	return shown;
}

/* Nobody else can have made this link, changed it, or moved it here. */
static int check_link(struct jw_error *err, const struct win32_at *at, HANDLE link,
					  const char *shown)
{
	struct jw_error why = {0};

	if (!win32_check_trust(&why, link, shown, WIN32_LINK) &&
		!win32_check_trust(&why, at->folder, "its folder", WIN32_FOLDER))
		return 0;
	return error_set(err, JW_ERR_IO,
					 "%s: is a link that is not followed with administrator's rights: %.500s",
					 shown, why.message);
}

/* `target` and the rest of the path behind it, from the link's own folder or as it is. */
static wchar_t *redirect(struct jw_error *err, const struct win32_at *at, const wchar_t *target,
						 bool relative, const wchar_t *rest)
{
	const size_t before = relative ? (size_t)(at->name - at->text) : 0;
	const size_t units = before + wcslen(target) + wcslen(rest) + 2;
	wchar_t *text = mem_array(units, sizeof *text), *full = NULL;

	memcpy(text, at->text, before * sizeof *text);
	wcscat(text, target);
	if (*rest) {
		if (text[wcslen(text) - 1] != L'\\')
			wcscat(text, L"\\");
		wcscat(text, rest);
	}
	if (!relative)
		return text;
	/* Without links in front, “..” is the folder above. */
	full = mem_array(WIN32_MOST_PATH + PREFIX, sizeof *full);
	if (full) {
		memcpy(full, L"\\??\\", PREFIX * sizeof *full);
		if (!GetFullPathNameW(text + PREFIX, WIN32_MOST_PATH, full + PREFIX, NULL)) {
			(void)win32_error(err, "a link");
			mem_free(full);
			full = NULL;
		}
	}
	mem_free(text);
	return full;
}

static wchar_t *read_link(struct jw_error *err, const struct win32_at *at, HANDLE link,
						  const char *shown, const wchar_t *rest)
{
	uint8_t *data = mem_alloc(MOST_LINK_SIZE);
	wchar_t *target = NULL, *text = NULL;
	bool relative = false;
	DWORD size = 0;

	if (!DeviceIoControl(link, FSCTL_GET_REPARSE_POINT, NULL, 0, data, MOST_LINK_SIZE, &size, NULL))
		(void)win32_error(err, shown);
	else if (data)
		target = win32_link_target(err, shown, data, size, &relative);
	if (target)
		text = redirect(err, at, target, relative, rest);
	mem_free(target);
	mem_free(data);
	return text;
}

enum step { STEP_FAILED = -1, STEP_ON, STEP_REDIRECTED, STEP_ARRIVED };

/* Under Wine the target is open already. */
static enum step follow(struct jw_error *err, struct win32_at *at, HANDLE link, size_t units,
						const wchar_t *rest)
{
	char *shown = shown_until(err, at, units);
	enum step step = STEP_FAILED;
	wchar_t *text;

	if (!shown || check_link(err, at, link, shown))
		goto done;
	if (win32_is_wine()) {
		step = *rest ? STEP_ON : STEP_ARRIVED;
		at->opened_link = !*rest;
		goto done;
	}
	text = read_link(err, at, link, shown, rest);
	if (text) {
		mem_free(at->text);
		at->text = text;
		step = STEP_REDIRECTED;
	}
done:
	mem_free(shown);
	return step;
}

/* Opens the next part of the path, and goes there. */
static enum step walk_part(struct jw_error *err, const char *path, bool followed,
						   struct win32_at *at)
{
	const size_t units = part_units(at->name);
	const wchar_t *rest = behind_part(at->name);
	enum step step = *rest ? STEP_ON : STEP_ARRIVED;
	HANDLE next;

	if (!*rest && !followed)
		return step;
	next = open_native(at->folder, at->name, units, READ_CONTROL, SHARE_ALL, FILE_OPEN,
					   FILE_OPEN_REPARSE_POINT | (*rest ? FILE_DIRECTORY_FILE : 0));
	if (next == INVALID_HANDLE_VALUE) {
		if (*rest)
			(void)win32_error(err, path);
		return *rest ? STEP_FAILED : step; /* the call itself tells */
	}
	if (is_link_there(at->folder, at->name, units, next))
		step = follow(err, at, next, units, rest);
	if (step != STEP_ON) {
		(void)CloseHandle(next);
		return step;
	}
	(void)CloseHandle(at->folder);
	at->folder = next;
	at->name = rest;
	return step;
}

static void close_folder(struct win32_at *at)
{
	if (at->folder)
		(void)CloseHandle(at->folder);
	at->folder = NULL;
}

/* From the root of `at->text` to its last part; STEP_REDIRECTED: the text has changed. */
static enum step walk_text(struct jw_error *err, const char *path, bool followed,
						   struct win32_at *at)
{
	enum step step = STEP_ON;

	at->name = behind_root(at->text);
	if (!*at->name) {
		at->name = at->text;
		return STEP_ARRIVED;
	}
	at->folder = open_native(NULL, at->text, (size_t)(at->name - at->text), READ_CONTROL, SHARE_ALL,
							 FILE_OPEN, FILE_DIRECTORY_FILE);
	if (at->folder == INVALID_HANDLE_VALUE) {
		at->folder = NULL;
		return (enum step)win32_error(err, path);
	}
	while (step == STEP_ON)
		step = walk_part(err, path, followed, at);
	if (step != STEP_ARRIVED)
		close_folder(at);
	return step;
}

static int walk_guarded(struct jw_error *err, const char *path, bool followed, struct win32_at *at)
{
	for (int links = 0; links <= MOST_LINKS; links++) {
		enum step step;

		if (is_device_path(at->text) && *behind_root(at->text))
			return error_set(err, JW_ERR_UNSUPPORTED,
							 "%s: is on a device, which is not used with administrator's rights",
							 path);
		step = walk_text(err, path, followed, at);
		if (step != STEP_REDIRECTED)
			return step == STEP_ARRIVED ? 0 : -1;
	}
	return error_set(err, JW_ERR_IO, "%s: Too many levels of symbolic links", path);
}

void os_follow_none_below(const char *folder, bool reads)
{
	(void)reads;
	(void)folder;
}

int win32_enter(struct jw_error *err, const char *path, bool followed, struct win32_at *ret_at)
{
	struct win32_at at = {.text = native_path(err, path)};

	if (!at.text)
		return -1;
	at.name = at.text;
	if (win32_is_elevated() && walk_guarded(err, path, followed, &at)) {
		mem_free(at.text);
		return -1;
	}
	*ret_at = at;
	return 0;
}

void win32_leave(struct win32_at *at)
{
	const DWORD reason = GetLastError();

	close_folder(at);
	mem_free(at->text);
	SetLastError(reason);
}

HANDLE win32_open_at(const struct win32_at *at, DWORD access, DWORD share, enum win32_opening how)
{
	static const struct {
		ULONG disposition, options;
	} calls[] = {
		[OPENING_EXISTING] = {FILE_OPEN, 0},
		[OPENING_LINK] = {FILE_OPEN, FILE_OPEN_REPARSE_POINT},
		[OPENING_FOLDER] = {FILE_OPEN, FILE_DIRECTORY_FILE},
		[OPENING_FILE] = {FILE_OPEN_IF, FILE_NON_DIRECTORY_FILE},
		[OPENING_NEW_FILE] = {FILE_CREATE, FILE_NON_DIRECTORY_FILE},
		[OPENING_NEW_FOLDER] = {FILE_CREATE, FILE_DIRECTORY_FILE},
	};
	HANDLE handle =
		open_native(at->folder, at->name, wcslen(at->name), access, share, calls[how].disposition,
					calls[how].options | (at->folder ? FILE_OPEN_REPARSE_POINT : 0));

	if (handle == INVALID_HANDLE_VALUE || !at->folder || at->opened_link || how == OPENING_LINK ||
		calls[how].disposition == FILE_CREATE || !win32_is_link(at, handle))
		return handle;
	(void)CloseHandle(handle);
	SetLastError(WIN32_LINK_REFUSED);
	return INVALID_HANDLE_VALUE;
}

HANDLE win32_open(struct jw_error *err, const char *path, DWORD access, enum win32_opening how)
{
	struct win32_at at;
	HANDLE handle;

	if (win32_enter(err, path, how <= OPENING_FILE && how != OPENING_LINK, &at))
		return INVALID_HANDLE_VALUE;
	handle = win32_open_at(&at, access, SHARE_ALL, how);
	win32_leave(&at);
	if (handle == INVALID_HANDLE_VALUE)
		win32_error(err, path);
	return handle;
}

/* mingw-w64 declares neither for this target. Source: Microsoft, FILE_RENAME_INFORMATION. */
static const FILE_INFORMATION_CLASS rename_class = (FILE_INFORMATION_CLASS)10;
static const FILE_INFORMATION_CLASS rename_class_ex = (FILE_INFORMATION_CLASS)65;

int win32_rename_to(HANDLE file, const struct win32_at *to)
{
	struct rename_info {
		DWORD flags;
		HANDLE root;
		DWORD name_bytes;
		wchar_t name[1];
	} * info;
	const size_t name_bytes = wcslen(to->name) * sizeof *to->name, size = sizeof *info + name_bytes;
	IO_STATUS_BLOCK status;
	NTSTATUS result;

	info = mem_alloc(size);
	info->flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
	info->root = to->folder;
	info->name_bytes = (DWORD)name_bytes;
	memcpy(info->name, to->name, name_bytes);
	/* Over files that others have open: NTFS from Windows 10 1607 on */
	result = NtSetInformationFile(file, &status, info, (ULONG)size, rename_class_ex);
	if (!NT_SUCCESS(result)) {
		info->flags = 1; /* a boolean: replace */
		result = NtSetInformationFile(file, &status, info, (ULONG)size, rename_class);
	}
	mem_free(info);
	if (NT_SUCCESS(result))
		return 0;
	SetLastError(RtlNtStatusToDosError(result));
	return -1;
}
