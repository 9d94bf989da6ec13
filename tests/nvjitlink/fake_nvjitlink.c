/* A library with nvJitLink's functions that links nothing, to do what a real one seldom does. Its
 * version is 12.FAKE_MINOR. The variable FAKE_NVJITLINK selects an event ("crash", "create",
 * "exit", "refuse", "huge", "junk", "noise"), or names a file, which becomes the linked code. If
 * the file of FAKE_NVJITLINK_FIRST does not exist yet, this link is refused first. Each link adds a
 * line to the file of FAKE_NVJITLINK_SAYS. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(name, minor) __nvJitLink##name##_12_##minor
#define JOIN(name, minor)  JOIN_(name, minor)
#define FUNCTION(name, ...)                                                                        \
	__attribute__((visibility("default"))) int JOIN(name, FAKE_MINOR)(__VA_ARGS__);                \
	__attribute__((visibility("default"))) int JOIN(name, FAKE_MINOR)(__VA_ARGS__)

enum { INTERNAL = 6 };

static char output[1 << 16];
static size_t output_size;
static unsigned inputs;
static char architecture[64];

static int is_mode(const char *mode)
{
	const char *said = getenv("FAKE_NVJITLINK");

	return said && !strcmp(said, mode);
}

FUNCTION(Create, void **handle, uint32_t count, const char *const *options)
{
	(void)snprintf(architecture, sizeof architecture, "%s", count == 1 ? options[0] : "?");
	*handle = output;
	return is_mode("create") ? 1 : 0;
}

FUNCTION(Destroy, void **handle)
{
	*handle = NULL;
	return 0;
}

FUNCTION(AddData, void *handle, int kind, const void *data, size_t size, const char *name)
{
	(void)handle, (void)data, (void)name;
	inputs++;
	return kind == 4 && size > 16 ? 0 : INTERNAL;
}

static void say(void)
{
	const char *to = getenv("FAKE_NVJITLINK_SAYS");
	FILE *file = to ? fopen(to, "a") : NULL;

	if (!file)
		return;
	(void)fprintf(file, "12.%d %s %u\n", FAKE_MINOR, architecture, inputs);
	(void)fclose(file);
}

static int is_first(void)
{
	const char *path = getenv("FAKE_NVJITLINK_FIRST");
	FILE *file = path ? fopen(path, "wx") : NULL;

	if (file)
		(void)fclose(file);
	return file != NULL;
}

FUNCTION(Complete, void *handle)
{
	const char *path = getenv("FAKE_NVJITLINK");
	FILE *file;

	(void)handle;
	say();
	inputs = 0;
	if (is_mode("crash"))
		abort();
	if (is_mode("exit"))
		exit(0);
	if (is_mode("refuse") || is_first())
		return INTERNAL;
	if (is_mode("noise"))
		puts("{\"answer\": 1}");
	if (is_mode("junk"))
		output_size = 1000;
	file = path && *path == '/' ? fopen(path, "rb") : NULL;
	if (file) {
		output_size = fread(output, 1, sizeof output, file);
		(void)fclose(file);
	}
	return 0;
}

FUNCTION(GetLinkedCubinSize, void *handle, size_t *size)
{
	(void)handle;
	*size = is_mode("huge") ? (size_t)1 << 50 : output_size;
	return 0;
}

FUNCTION(GetLinkedCubin, void *handle, void *to)
{
	(void)handle;
	memcpy(to, output, output_size);
	return 0;
}

FUNCTION(GetErrorLogSize, void *handle, size_t *size)
{
	(void)handle;
	*size = sizeof "error   : one\nerror   : two\n";
	return 0;
}

FUNCTION(GetErrorLog, void *handle, char *log)
{
	(void)handle;
	memcpy(log, "error   : one\nerror   : two\n", sizeof "error   : one\nerror   : two\n");
	return 0;
}
