#include "os/file.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/processes.h"
#include "os/win32/win32.h"

/* FileRenameInfoEx; mingw-w64 declares it, like the flags of FILE_RENAME_INFO below, only for newer
 * targets. */
static const FILE_INFO_BY_HANDLE_CLASS rename_class = (FILE_INFO_BY_HANDLE_CLASS)22;

/* Renames over a file that others have open (and share for deletion), as POSIX systems do: NTFS
 * from Windows 10 1607 on. false if the system or the file system cannot. Source: Microsoft's
 * documentation of FILE_RENAME_INFO. */
static bool rename_as_posix(const wchar_t *source, const wchar_t *target)
{
	struct rename_info {
		DWORD flags;
		HANDLE root;
		DWORD name_bytes;
		wchar_t name[1];
	} * info;
	const size_t name_bytes = wcslen(target) * sizeof *target, size = sizeof *info + name_bytes;
	HANDLE handle = CreateFileW(source, DELETE | SYNCHRONIZE, SHARE_ALL, NULL, OPEN_EXISTING,
								FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
	bool done = false;

	if (handle == INVALID_HANDLE_VALUE)
		return false;
	info = mem_alloc(NULL, size);
	if (info) {
		info->flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
		info->name_bytes = (DWORD)name_bytes;
		memcpy(info->name, target, name_bytes);
		done = SetFileInformationByHandle(handle, rename_class, info, (DWORD)size);
	}
	mem_free(info);
	(void)CloseHandle(handle);
	return done;
}

static bool is_in_use(DWORD error)
{
	return error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
}

static void say_who(struct jw_error *err, const char *path)
{
	struct os_program program;
	char before[sizeof err->message];

	if (!err || !win32_user_of(path, &program))
		return;
	TEXT_COPY(before, err->message);
	(void)error_set(err, err->code, "%.800s (%s, process %d, has it open)", before,
					*program.name ? program.name : "a program", program.pid);
}

int os_rename(struct jw_error *err, const char *from, const char *to)
{
	/* Virus scanners and indexers briefly open a file that was just written. */
	static const DWORD waits_ms[] = {1, 5, 20, 50, 100, 200};
	const size_t tries = sizeof waits_ms / sizeof *waits_ms;
	wchar_t *source = win32_path(err, from), *target = win32_path(err, to);
	int result = -1;

	if (!source || !target)
		goto done;
	for (size_t i = 0; result; i++) {
		if (rename_as_posix(source, target) ||
			MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING)) {
			result = 0;
		} else if (i == tries || !is_in_use(GetLastError())) {
			bool in_use = is_in_use(GetLastError());

			win32_error(err, to);
			if (in_use)
				say_who(err, to);
			break;
		} else {
			Sleep(waits_ms[i]);
		}
	}
done:
	mem_free(source);
	mem_free(target);
	return result;
}

struct os_file *os_file_take(const char *from, const char *to)
{
	(void)from;
	(void)to;
	return NULL;
}
