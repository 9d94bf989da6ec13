/* Replaces System32\schtasks.exe, since Wine's keeps no trigger and shows nothing. Tasks are files
 * in the folder SCHTASKS_FOLDER, and told.txt there has a line for each call that changes one. If
 * there is a file says.bin, this program prints its bytes on stderr and fails. */
#include <windows.h>

#include <stdio.h>
#include <wchar.h>

static wchar_t folder[MAX_PATH];

static const wchar_t *value_of(int count, wchar_t **words, const wchar_t *option)
{
	for (int i = 1; i + 1 < count; i++)
		if (!_wcsicmp(words[i], option))
			return words[i + 1];
	return L"";
}

static FILE *open_in(const wchar_t *name, const wchar_t *how)
{
	wchar_t path[2 * MAX_PATH];

	(void)swprintf(path, 2 * MAX_PATH, L"%ls\\%ls", folder, name);
	return _wfopen(path, how);
}

/* Task Scheduler's folders are names with a backslash; here they are files in one folder. */
static void file_of(const wchar_t *task, wchar_t path[2 * MAX_PATH])
{
	size_t start = (size_t)swprintf(path, 2 * MAX_PATH, L"%ls\\", folder);

	(void)swprintf(path + start, 2 * MAX_PATH - start, L"%ls.xml", task + (*task == L'\\'));
	for (wchar_t *at = path + start; *at; at++)
		if (*at == L'\\')
			*at = L'+';
}

static int says(void)
{
	FILE *file = open_in(L"says.bin", L"rb");
	int byte;

	if (!file)
		return 0;
	while ((byte = getc(file)) != EOF)
		(void)putc(byte, stderr);
	(void)fclose(file);
	return 1;
}

static int show(const wchar_t *path)
{
	FILE *file = _wfopen(path, L"rb");
	int byte;

	if (!file) {
		(void)fputs("ERROR: The system cannot find the file specified.\r\n", stderr);
		return 1;
	}
	while ((byte = getc(file)) != EOF)
		(void)putchar(byte);
	(void)fclose(file);
	return 0;
}

int wmain(int count, wchar_t **words)
{
	const wchar_t *task = value_of(count, words, L"/tn");
	wchar_t path[2 * MAX_PATH];
	FILE *told;

	if (count < 2 || !GetEnvironmentVariableW(L"SCHTASKS_FOLDER", folder, MAX_PATH))
		return 1;
	file_of(task, path);
	if (!_wcsicmp(words[1], L"/query"))
		return show(path);
	told = open_in(L"told.txt", L"ab");
	if (told) {
		(void)fprintf(told, "%ls %ls %ls\n", words[1], task, value_of(count, words, L"/xml"));
		(void)fclose(told);
	}
	if (says())
		return 1;
	if (!_wcsicmp(words[1], L"/create"))
		return !CopyFileW(value_of(count, words, L"/xml"), path, FALSE);
	return !DeleteFileW(path);
}
