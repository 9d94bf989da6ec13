#include "os/win32/opening.h"

#include <string.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/file.h"

/* After windows.h, whose types it needs */
#include <winternl.h>

enum { PREFIX = 4 };

/* Converts a path to the form of ntdll's calls: \??\C:\... A separator at the end is left out. */
static wchar_t *native_path(struct jw_error *err, const char *path)
{
	wchar_t *text = win32_path(err, path);
	size_t units = text ? wcslen(text) : 0;

	if (!text)
		return NULL;
	text[1] = L'?'; /* ntdll treats \\?\ and \\.\ alike */
	text[2] = L'?';
	while (units > PREFIX + 3 && text[units - 1] == L'\\')
		text[--units] = L'\0';
	return text;
}

bool win32_is_wine(void)
{
	const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");

	return ntdll && GetProcAddress(ntdll, "wine_get_version");
}

/* Returns whether the path led through a link. Wine has no links of its own and always opens the
 * targets of the host system's links; the path of the opened file shows that. */
static bool leads_elsewhere(HANDLE opened, const char *path)
{
	enum { MAX_BELOW = 4096 + 8 }; /* the host system has no longer paths */
	wchar_t above[MAX_BELOW], real[MAX_BELOW], *name = win32_wide(NULL, os_base_name(path));
	char *dir = os_dir_name(path);
	HANDLE folder = win32_open(NULL, dir, 0, OPENING_EXISTING);
	size_t length = 0;
	bool leads = false;

	if (name && *name && folder != INVALID_HANDLE_VALUE &&
		(length = GetFinalPathNameByHandleW(folder, above, MAX_BELOW, 0)) < MAX_BELOW && length &&
		GetFinalPathNameByHandleW(opened, real, MAX_BELOW, 0) < MAX_BELOW) {
		length -= above[length - 1] == L'\\';
		leads = _wcsnicmp(above, real, length) != 0 || real[length] != L'\\' ||
				_wcsicmp(real + length + 1, name) != 0;
	}
	if (folder != INVALID_HANDLE_VALUE)
		(void)CloseHandle(folder);
	mem_free(name);
	mem_free(dir);
	return leads;
}

bool win32_is_link(HANDLE opened, const char *path)
{
	FILE_ATTRIBUTE_TAG_INFO info;

	if (GetFileInformationByHandleEx(opened, FileAttributeTagInfo, &info, sizeof info) &&
		info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)
		return true;
	return win32_is_wine() && leads_elsewhere(opened, path);
}

HANDLE win32_open(struct jw_error *err, const char *path, DWORD access, enum win32_opening how)
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
	const bool guarded = how != OPENING_LINK && access & GENERIC_WRITE && jw_is_administrator();
	wchar_t *name = native_path(err, path);
	const size_t bytes = name ? wcslen(name) * sizeof *name : 0;
	UNICODE_STRING text = {.Length = (USHORT)bytes, .MaximumLength = (USHORT)bytes, .Buffer = name};
	OBJECT_ATTRIBUTES what;
	IO_STATUS_BLOCK status;
	HANDLE handle = INVALID_HANDLE_VALUE;
	NTSTATUS result;

	if (!name)
		return INVALID_HANDLE_VALUE;
	if (bytes / sizeof *name >= WIN32_MAX_PATH) {
		SetLastError(ERROR_FILENAME_EXCED_RANGE);
		goto done;
	}
	InitializeObjectAttributes(&what, &text, OBJ_CASE_INSENSITIVE, NULL, NULL);
	result = NtCreateFile(&handle, access | SYNCHRONIZE | FILE_READ_ATTRIBUTES, &what, &status,
						  NULL, FILE_ATTRIBUTE_NORMAL, SHARE_ALL, calls[how].disposition,
						  calls[how].options | (guarded ? FILE_OPEN_REPARSE_POINT : 0) |
							  FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT,
						  NULL, 0);
	if (!NT_SUCCESS(result)) {
		handle = INVALID_HANDLE_VALUE;
		SetLastError(RtlNtStatusToDosError(result));
	} else if (guarded && win32_is_link(handle, path)) {
		(void)CloseHandle(handle);
		handle = INVALID_HANDLE_VALUE;
		SetLastError(WIN32_LINK_REFUSED);
	}
done:
	if (handle == INVALID_HANDLE_VALUE)
		win32_error(err, path);
	mem_free(name);
	return handle;
}

/* mingw-w64 declares neither for this target. Source: Microsoft, FILE_RENAME_INFORMATION. */
static const FILE_INFORMATION_CLASS rename_class = (FILE_INFORMATION_CLASS)10;
static const FILE_INFORMATION_CLASS rename_class_ex = (FILE_INFORMATION_CLASS)65;

int win32_rename_to(struct jw_error *err, HANDLE file, const char *to)
{
	struct rename_info {
		DWORD flags;
		HANDLE root;
		DWORD name_bytes;
		wchar_t name[1];
	} * info;
	wchar_t *name = native_path(err, to);
	const size_t name_bytes = name ? wcslen(name) * sizeof *name : 0,
				 size = sizeof *info + name_bytes;
	IO_STATUS_BLOCK status;
	NTSTATUS result;

	if (!name)
		return -1;
	info = mem_alloc(size);
	info->flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
	info->name_bytes = (DWORD)name_bytes;
	memcpy(info->name, name, name_bytes);
	/* Replaces also files that others have open: NTFS from Windows 10 1607 on. */
	result = NtSetInformationFile(file, &status, info, (ULONG)size, rename_class_ex);
	if (!NT_SUCCESS(result)) {
		info->flags = 1; /* a boolean: replace the target */
		result = NtSetInformationFile(file, &status, info, (ULONG)size, rename_class);
	}
	mem_free(info);
	mem_free(name);
	if (NT_SUCCESS(result))
		return 0;
	SetLastError(RtlNtStatusToDosError(result));
	return win32_error(err, to);
}
