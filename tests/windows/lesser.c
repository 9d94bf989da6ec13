/* lesser.exe PROGRAM ARGUMENT...: runs PROGRAM with the rights of an administrator that was not
 * elevated: the group Administrators in its token denies and allows nothing. Exit status: the
 * program's; 125 if it cannot be started. */
#include <windows.h>

#include <stdio.h>
#include <wchar.h>

static HANDLE lesser_token(void)
{
	union {
		SID sid;
		BYTE room[SECURITY_MAX_SID_SIZE];
	} administrators;
	DWORD size = sizeof administrators;
	SID_AND_ATTRIBUTES denied = {.Sid = &administrators};
	HANDLE ours, lesser;

	if (!CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, &administrators, &size) ||
		!OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &ours) ||
		!CreateRestrictedToken(ours, DISABLE_MAX_PRIVILEGE, 1, &denied, 0, NULL, 0, NULL, &lesser))
		return NULL;
	return lesser;
}

int main(void)
{
	STARTUPINFOW start = {.cb = sizeof start};
	PROCESS_INFORMATION started;
	HANDLE token = lesser_token();
	DWORD status = 125;
	/* The rest of the command line after our own name, which contains no blanks */
	wchar_t *line = wcschr(GetCommandLineW(), L' ');

	if (!token || !line ||
		!CreateProcessAsUserW(token, NULL, line + wcsspn(line, L" "), NULL, NULL, TRUE, 0, NULL,
							  NULL, &start, &started)) {
		fprintf(stderr, "lesser: error %lu\n", GetLastError());
		return (int)status;
	}
	WaitForSingleObject(started.hProcess, INFINITE);
	GetExitCodeProcess(started.hProcess, &status);
	return (int)status;
}
