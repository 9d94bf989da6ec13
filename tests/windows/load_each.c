/* load_each DLL...: a line for each, "loaded" or "refused". What a DLL does when it is loaded may
 * end the program. */
#include <stdio.h>
#include <windows.h>

int wmain(int argc, wchar_t **argv)
{
	SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
	for (int i = 1; i < argc; i++) {
		HMODULE library = LoadLibraryW(argv[i]);

		puts(library ? "loaded" : "refused");
		(void)fflush(stdout);
		if (library)
			(void)FreeLibrary(library);
	}
	return 0;
}
