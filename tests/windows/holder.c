/* holder.exe open|lock FILE MILLISECONDS: holds the file open without sharing it, or holds the lock
 * on it as a driver does; prints "held" once it does. Exit status: 0, or 1 if it cannot. */
#include <windows.h>

#include <shellapi.h>
#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

int main(void)
{
	int count = 0;
	wchar_t **arguments = CommandLineToArgvW(GetCommandLineW(), &count);
	bool lock = arguments && count == 4 && !wcscmp(arguments[1], L"lock");
	OVERLAPPED whole = {0};
	HANDLE file;

	if (!arguments || count != 4)
		return 1;
	file = CreateFileW(arguments[2], lock ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ,
					   lock ? FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE : 0, NULL,
					   OPEN_EXISTING, 0, NULL);
	if (file == INVALID_HANDLE_VALUE ||
		(lock && !LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, MAXDWORD, MAXDWORD, &whole)))
		return 1;
	puts("held");
	fflush(stdout);
	Sleep((DWORD)wcstoul(arguments[3], NULL, 10));
	return 0;
}
