/* A library that must not be loaded: it creates the file named in JITWARM_WITNESS. It has the name
 * of a Windows library. */
#include <windows.h>

#include <wchar.h>

BOOL WINAPI DllMain(HINSTANCE self, DWORD why, void *reserved)
{
	wchar_t path[MAX_PATH];
	char name[MAX_PATH + 1];
	HANDLE file;
	DWORD written, length;

	(void)reserved;
	if (why != DLL_PROCESS_ATTACH || !GetEnvironmentVariableW(L"JITWARM_WITNESS", path, MAX_PATH))
		return TRUE;
	length = GetModuleFileNameA(self, name, MAX_PATH);
	name[length++] = '\n';
	file = CreateFileW(path, FILE_APPEND_DATA, FILE_SHARE_READ, NULL, OPEN_ALWAYS, 0, NULL);
	if (file != INVALID_HANDLE_VALUE) {
		(void)WriteFile(file, name, length, &written, NULL);
		(void)CloseHandle(file);
	}
	return TRUE;
}

/* These functions satisfy the loader, since jitwarm was linked with them. Windows' headers declare
 * them otherwise, hence the other names. */
#define EXPORTED(name)                                                                             \
	__declspec(dllexport) int planted_##name(void) __asm__(#name);                                 \
	int planted_##name(void)                                                                       \
	{                                                                                              \
		return 0;                                                                                  \
	}
EXPORTED(GetFileVersionInfoExW)
EXPORTED(GetFileVersionInfoSizeExW)
EXPORTED(VerQueryValueW)
EXPORTED(GetProfileType)
EXPORTED(GetUserProfileDirectoryW)
EXPORTED(GetAdaptersAddresses)
