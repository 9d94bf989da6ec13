/* The simulated driver on Windows; all names are UTF-16. */
#include "os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static wchar_t *wide(const char *text)
{
	int count = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
	wchar_t *result = sim_alloc((size_t)(count > 0 ? count : 1) * sizeof *result);

	MultiByteToWideChar(CP_UTF8, 0, text, -1, result, count);
	return result;
}

static char *narrow(const wchar_t *text)
{
	int count = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
	char *result = sim_alloc((size_t)(count > 0 ? count : 1));

	WideCharToMultiByte(CP_UTF8, 0, text, -1, result, count, NULL, NULL);
	return result;
}

char *os_env(const char *name)
{
	wchar_t *key = wide(name);
	DWORD count;
	wchar_t *value;
	char *result = NULL;

	SetLastError(0);
	count = GetEnvironmentVariableW(key, NULL, 0);
	if (count > 0 || GetLastError() != ERROR_ENVVAR_NOT_FOUND) {
		value = sim_alloc((count + 1) * sizeof *value);
		GetEnvironmentVariableW(key, value, count + 1);
		result = narrow(value);
		free(value);
	}
	free(key);
	return result;
}

char *os_default_cache(void)
{
	static const char tail[] = "\\NVIDIA\\ComputeCache";
	char *base = os_env("APPDATA");
	char *path;
	size_t size;

	if (!base)
		return NULL;
	size = strlen(base) + sizeof tail;
	path = sim_alloc(size);
	snprintf(path, size, "%s%s", base, tail);
	free(base);
	return path;
}

bool os_open(struct os_file *ret_file, const char *path, enum os_mode mode)
{
	static const struct {
		DWORD access, creation;
	} how[] = {
		[OS_READ] = {GENERIC_READ, OPEN_EXISTING},
		[OS_UPDATE] = {GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING},
		[OS_CREATE_UPDATE] = {GENERIC_READ | GENERIC_WRITE, CREATE_ALWAYS},
		[OS_WRITE] = {GENERIC_WRITE, CREATE_ALWAYS},
		[OS_APPEND] = {FILE_APPEND_DATA, OPEN_ALWAYS},
		[OS_CREATE_NEW] = {GENERIC_WRITE, CREATE_NEW},
	};
	wchar_t *name = wide(path);
	HANDLE handle =
		CreateFileW(name, how[mode].access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
					NULL, how[mode].creation, FILE_ATTRIBUTE_NORMAL, NULL);

	free(name);
	if (handle == INVALID_HANDLE_VALUE)
		return false;
	ret_file->handle = (intptr_t)handle;
	return true;
}

void os_close(struct os_file *file)
{
	CloseHandle((HANDLE)file->handle);
}

bool os_read(const struct os_file *file, struct bytes *ret_bytes)
{
	uint8_t block[16384];
	DWORD got;

	SetFilePointer((HANDLE)file->handle, 0, NULL, FILE_BEGIN);
	for (;;) {
		if (!ReadFile((HANDLE)file->handle, block, sizeof block, &got, NULL))
			return false;
		if (got == 0)
			return true;
		bytes_add(ret_bytes, block, got);
	}
}

bool os_write(const struct os_file *file, uint64_t offset, const void *data, size_t size)
{
	LARGE_INTEGER at = {.QuadPart = (LONGLONG)offset};
	DWORD put;

	return SetFilePointerEx((HANDLE)file->handle, at, NULL, FILE_BEGIN) &&
		   WriteFile((HANDLE)file->handle, data, (DWORD)size, &put, NULL) && put == size;
}

bool os_append(const struct os_file *file, const void *data, size_t size)
{
	DWORD put;

	return WriteFile((HANDLE)file->handle, data, (DWORD)size, &put, NULL) && put == size;
}

enum os_lock os_try_lock(const struct os_file *file, bool exclusive)
{
	OVERLAPPED range = {0};
	DWORD how = LOCKFILE_FAIL_IMMEDIATELY | (exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0);

	if (LockFileEx((HANDLE)file->handle, how, 0, MAXDWORD, MAXDWORD, &range))
		return OS_LOCKED;
	return GetLastError() == ERROR_LOCK_VIOLATION || GetLastError() == ERROR_IO_PENDING
			   ? OS_BUSY
			   : OS_NO_LOCKS;
}

void os_unlock(const struct os_file *file)
{
	OVERLAPPED range = {0};

	UnlockFileEx((HANDLE)file->handle, 0, MAXDWORD, MAXDWORD, &range);
}

void os_make_directory(const char *path)
{
	wchar_t *name = wide(path);

	CreateDirectoryW(name, NULL);
	free(name);
}

void os_remove_file(const char *path)
{
	wchar_t *name = wide(path);

	DeleteFileW(name);
	free(name);
}

static void remove_tree(const wchar_t *path)
{
	wchar_t pattern[1024];
	WIN32_FIND_DATAW found;
	HANDLE search;

	swprintf(pattern, 1024, L"%ls\\*", path);
	search = FindFirstFileW(pattern, &found);
	if (search == INVALID_HANDLE_VALUE)
		return;
	do {
		wchar_t inner[1024];

		if (wcscmp(found.cFileName, L".") == 0 || wcscmp(found.cFileName, L"..") == 0)
			continue;
		swprintf(inner, 1024, L"%ls\\%ls", path, found.cFileName);
		if (!DeleteFileW(inner))
			remove_tree(inner);
	} while (FindNextFileW(search, &found));
	FindClose(search);
	RemoveDirectoryW(path);
}

void os_remove_tree(const char *path)
{
	wchar_t *name = wide(path);

	remove_tree(name);
	free(name);
}

void os_sleep_ms(double ms)
{
	Sleep((DWORD)(ms + 0.5));
}

static uint64_t thread_time(void)
{
	FILETIME created, ended, kernel, user;

	GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user);
	return ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime) +
		   ((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime);
}

void os_burn_ms(double ms)
{
	uint64_t start = thread_time();

	while ((double)(thread_time() - start) / 1e4 < ms)
		;
}

unsigned long os_pid(void)
{
	return GetCurrentProcessId();
}

static SRWLOCK process_mutex = SRWLOCK_INIT;

void os_process_lock(void)
{
	AcquireSRWLockExclusive(&process_mutex);
}

void os_process_unlock(void)
{
	ReleaseSRWLockExclusive(&process_mutex);
}

struct os_mutex {
	SRWLOCK inner;
};

struct os_mutex *os_mutex_new(void)
{
	struct os_mutex *mutex = sim_alloc(sizeof *mutex);

	InitializeSRWLock(&mutex->inner);
	return mutex;
}

void os_mutex_lock(struct os_mutex *mutex)
{
	AcquireSRWLockExclusive(&mutex->inner);
}

void os_mutex_unlock(struct os_mutex *mutex)
{
	ReleaseSRWLockExclusive(&mutex->inner);
}

void os_mutex_free(struct os_mutex *mutex)
{
	free(mutex);
}
