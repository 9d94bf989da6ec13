/* A Python that answers as find/index.py does: `-I -Xutf8 -c PROGRAM {"wheels": FOLDER, …}` has a
 * pip, and {"do": "get", "lines": "NAME==VERSION"} gets each wheel of the folder FAKE_WHEELS whose
 * name begins so. Without FAKE_WHEELS its pip fails. */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

enum { LONGEST = 1024 };

/* Copies the text of a member of a JSON object; of its escapes, only the backslash's is known. */
static void member(const wchar_t *object, const wchar_t *name, wchar_t text[LONGEST])
{
	const wchar_t *at = wcsstr(object, name);
	size_t length = 0;

	at = at ? wcschr(at + wcslen(name), L':') : NULL;
	at = at ? wcschr(at, L'"') : NULL;
	while (at && *++at != L'"' && *at && length < LONGEST - 1) {
		if (*at == L'\\')
			at++;
		text[length++] = *at;
	}
	text[length] = 0;
}

static void answer(const char *line)
{
	puts(line);
	(void)fflush(stdout);
}

/* Copies the wheels of a requirement into the folder, and names each. */
static void get(const wchar_t *folder, const wchar_t *dest, wchar_t *name)
{
	wchar_t pattern[LONGEST], from[LONGEST], to[LONGEST];
	WIN32_FIND_DATAW found;
	HANDLE search;

	for (wchar_t *at = name; *at; at++)
		*at = (wchar_t)(*at == L'-' ? L'_' : *at == L'=' || *at == L'\n' ? 0 : *at);
	(void)swprintf(pattern, LONGEST, L"%ls\\%ls-*", folder, name);
	search = FindFirstFileW(pattern, &found);
	for (BOOL more = search != INVALID_HANDLE_VALUE; more; more = FindNextFileW(search, &found)) {
		(void)swprintf(from, LONGEST, L"%ls\\%ls", folder, found.cFileName);
		(void)swprintf(to, LONGEST, L"%ls\\%ls", dest, found.cFileName);
		if (CopyFileW(from, to, TRUE))
			printf("{\"file\": \"%ls\", \"version\": \"12.3\", \"pythons\": \"py3\", "
				   "\"systems\": [\"windows\"]}\n",
				   found.cFileName);
	}
	if (search != INVALID_HANDLE_VALUE)
		(void)FindClose(search);
	answer("{\"end\": true}");
}

int wmain(int argc, wchar_t **argv)
{
	const wchar_t *folder = _wgetenv(L"FAKE_WHEELS");
	wchar_t dest[LONGEST], name[LONGEST], question[LONGEST];
	char line[LONGEST];

	if (argc < 2)
		return 1;
	member(argv[argc - 1], L"\"wheels\"", dest);
	answer("{\"end\": true}");
	while (fgets(line, sizeof line, stdin)) {
		(void)swprintf(question, LONGEST, L"%hs", line);
		member(question, L"\"lines\"", name);
		if (folder)
			get(folder, dest, name);
		else
			answer("{\"error\": \"words\", \"reason\": \"no wheels of http://host/ here\"}");
	}
	return 0;
}
