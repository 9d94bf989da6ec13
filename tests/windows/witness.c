/* A program that must not be started: it makes JITWARM_WITNESS's file, and claims to be a ptxas. */
#include <windows.h>

#include <stdio.h>
#include <wchar.h>

int wmain(int count, wchar_t **words)
{
	wchar_t path[MAX_PATH];
	FILE *file = NULL;

	if (GetEnvironmentVariableW(L"JITWARM_WITNESS", path, MAX_PATH))
		file = _wfopen(path, L"ab");
	if (file) {
		(void)fprintf(file, "%ls\n", words[0]);
		(void)fclose(file);
	}
	if (count > 1)
		puts("ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 12.4, "
			 "V12.4.131");
	return 0;
}
