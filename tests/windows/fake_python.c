/* A Python whose pip has the wheels of the folder FAKE_WHEELS: “download --dest FOLDER …
 * --requirement FILE” copies each wheel whose name begins as the file's text. Without FAKE_WHEELS
 * it prints that it cannot. */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

static const wchar_t *behind(int argc, wchar_t **argv, const wchar_t *option)
{
	for (int i = 1; i + 1 < argc; i++)
		if (!wcscmp(argv[i], option))
			return argv[i + 1];
	return NULL;
}

int wmain(int argc, wchar_t **argv)
{
	const wchar_t *folder = _wgetenv(L"FAKE_WHEELS"), *dest = behind(argc, argv, L"--dest"),
				  *asked = behind(argc, argv, L"--requirement");
	wchar_t pattern[1024], from[1024], to[1024];
	char line[256] = "";
	WIN32_FIND_DATAW found;
	FILE *file = asked ? _wfopen(asked, L"r") : NULL;
	HANDLE search;

	if (!folder || !dest || !file || !fgets(line, sizeof line, file)) {
		puts("ERROR: no wheels of http://me:word@host/ here");
		return 1;
	}
	(void)fclose(file);
	for (char *at = line; *at; at++)
		*at = (char)(*at == '-' ? '_' : *at == '=' || *at == '\n' ? 0 : *at);
	(void)swprintf(pattern, 1024, L"%ls\\%hs-*", folder, line);
	search = FindFirstFileW(pattern, &found);
	if (search == INVALID_HANDLE_VALUE)
		return 1;
	do {
		(void)swprintf(from, 1024, L"%ls\\%ls", folder, found.cFileName);
		(void)swprintf(to, 1024, L"%ls\\%ls", dest, found.cFileName);
		if (!CopyFileW(from, to, TRUE))
			return 1;
	} while (FindNextFileW(search, &found));
	(void)FindClose(search);
	return 0;
}
