/* All tests are one program: test_ROOM_THING.c runs under the name ROOM_THING. */
#include "check.h"

#include <stdio.h>
#include <string.h>

enum { FILES_MAX = 400 };

static struct {
	const char *path;
	int (*run)(void);
} files[FILES_MAX];
static size_t file_count;

void check_file(const char *path, int (*run)(void))
{
	if (file_count == FILES_MAX)
		abort();
	files[file_count].path = path;
	files[file_count++].run = run;
}

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
