/* The command line. Windows' shells leave patterns to the program: "scan *.dll" arrives as typed.
 */
#include "os/arguments.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/win32/win32.h"

/* Before this header, which needs its types */
#include <windows.h>

#include <shellapi.h>

enum { MOST_ARGUMENTS = 1 << 20 };

struct arguments {
	char **items; /* as argv: NULL at the end */
	size_t count, capacity;
};

/* Takes `text` over. */
static int add_argument(struct arguments *arguments, char *text)
{
	if (!text || VEC_ROOM(NULL, arguments->items, arguments->capacity, arguments->count + 1,
						  MOST_ARGUMENTS)) {
		mem_free(text);
		return -1;
	}
	arguments->items[arguments->count++] = text;
	arguments->items[arguments->count] = NULL;
	return 0;
}

/* Whether only the last part is a pattern. File names cannot contain these characters. */
static bool is_pattern(const wchar_t *text)
{
	const wchar_t *wild = wcspbrk(text, L"*?");

	return text[0] != L'-' && wild && !wcspbrk(wild, L"\\/") && wcsncmp(text, L"\\\\?\\", 4) != 0;
}

static int add_match(struct arguments *arguments, const wchar_t *pattern, const wchar_t *name)
{
	size_t folder = wcslen(pattern);
	wchar_t *path;
	int result;

	while (folder && !wcschr(L"\\/:", pattern[folder - 1]))
		folder--;
	path = mem_array(NULL, folder + wcslen(name) + 1, sizeof *path);
	if (!path)
		return -1;
	memcpy(path, pattern, folder * sizeof *path);
	memcpy(path + folder, name, wcslen(name) * sizeof *path);
	result = add_argument(arguments, win32_utf8(NULL, path));
	mem_free(path);
	return result;
}

/* Adds the files that match a pattern; without any, the pattern itself, for the message. */
static int add_expanded(struct arguments *arguments, const wchar_t *text)
{
	WIN32_FIND_DATAW entry;
	HANDLE search = is_pattern(text) ? FindFirstFileW(text, &entry) : INVALID_HANDLE_VALUE;
	size_t before = arguments->count;
	int result = 0;

	if (search != INVALID_HANDLE_VALUE) {
		do {
			if (wcscmp(entry.cFileName, L".") != 0 && wcscmp(entry.cFileName, L"..") != 0)
				result = add_match(arguments, text, entry.cFileName);
		} while (!result && FindNextFileW(search, &entry));
		(void)FindClose(search);
	}
	if (!result && arguments->count == before)
		result = add_argument(arguments, win32_utf8(NULL, text));
	return result;
}

char **os_arguments(int *argc, char **argv)
{
	struct arguments arguments = {0};
	int count = 0, result = 0;
	wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);

	for (int i = 0; wide && !result && i < count; i++)
		result = i ? add_expanded(&arguments, wide[i])
				   : add_argument(&arguments, win32_utf8(NULL, wide[i]));
	if (wide)
		(void)LocalFree(wide);
	/* Out of memory at the start: use the C library's argv. */
	if (result || !arguments.count)
		return argv;
	*argc = (int)arguments.count;
	return arguments.items;
}
