/* All tests as one program: test_ROOM_THING.c is run by the name ROOM_THING. */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
#include <windows.h>
#endif

enum { FILES_MOST = 400 };

static struct {
	const char *path;
	int (*run)(void);
} files[FILES_MOST];
static size_t file_count;

void check_file(const char *path, int (*run)(void))
{
	if (file_count == FILES_MOST)
		abort();
	files[file_count].path = path;
	files[file_count++].run = run;
}

#ifdef _WIN32
void check_set_mtime(const char *path, int64_t mtime_ns)
{
	uint64_t ticks = (uint64_t)(mtime_ns / 100 + INT64_C(116444736000000000));
	FILETIME time = {(DWORD)ticks, (DWORD)(ticks >> 32)};
	HANDLE file = CreateFileA(path, FILE_WRITE_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
							  OPEN_EXISTING, 0, NULL);

	assert_true(SetFileTime(file, NULL, NULL, &time));
	CloseHandle(file);
}
#else
void check_set_mtime(const char *path, int64_t mtime_ns)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = mtime_ns / 1000000000, .tv_nsec = mtime_ns % 1000000000}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}
#endif

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < file_count; i++) {
		const char *name = strstr(files[i].path, "/test_") + 6;
		size_t length = strlen(argv[1]);

		if (strncmp(name, argv[1], length) == 0 && strcmp(name + length, ".c") == 0)
			return files[i].run();
	}
	(void)fprintf(stderr, "usage: %s ROOM_THING\n", argv[0]);
	return 64;
}
