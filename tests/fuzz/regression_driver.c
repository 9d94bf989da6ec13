/* Replaces libFuzzer in ordinary builds, for all targets: the named target reads each file of the
 * given folders and files once. Fails without any file, since a target without a corpus tests
 * nothing. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/file.h"

enum { MAX_INPUT_BYTES = 1 << 24 };

/* FUZZ_TARGETS: X(thing) for each fuzz_thing.c (CMakeLists.txt) */
#define X(thing) int take_##thing(const uint8_t *data, size_t size);
FUZZ_TARGETS
#undef X
static const struct {
	const char *name;
	int (*take)(const uint8_t *data, size_t size);
} targets[] = {
#define X(thing) {#thing, take_##thing},
	FUZZ_TARGETS
#undef X
};
const char *fuzz_input;
static int (*take)(const uint8_t *data, size_t size);

static int run_file(const char *path, size_t *ran)
{
	struct buf content = {0};
	struct jw_error err = {0};
	uint8_t *exact;

	if (os_read_file(&err, path, MAX_INPUT_BYTES, &content)) {
		(void)fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	fuzz_input = path;
	/* The copy has exactly the file's size, so that the sanitizer detects a read after its end. */
	exact = mem_alloc(content.size);
	if (content.size)
		memcpy(exact, content.data, content.size);
	(void)take(exact, content.size);
	++*ran;
	mem_free(exact);
	buf_free(&content);
	return 0;
}

static int run_folder(const char *path, size_t *ran)
{
	struct os_names names;
	struct jw_error err = {0};
	int result = 0;

	if (os_list(&err, path, &names)) {
		(void)fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	for (size_t i = 0; i < names.count && !result; i++) {
		char *inside = os_join(path, names.items[i]);

		result = names.kinds[i] == OS_REGULAR ? run_file(inside, ran) : 0;
		mem_free(inside);
	}
	os_names_free(&names);
	return result;
}

int main(int argc, char **argv)
{
	size_t ran = 0;

	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		if (argc > 1 && strcmp(targets[i].name, argv[1]) == 0)
			take = targets[i].take;
	for (int i = 2; i < argc && take; i++) {
		struct os_stat stat;

		if (os_stat(NULL, argv[i], &stat) ||
			(stat.kind == OS_DIRECTORY ? run_folder : run_file)(argv[i], &ran)) {
			(void)fprintf(stderr, "%s cannot be read\n", argv[i]);
			return 1;
		}
	}
	printf("%zu inputs%s\n", ran, ran ? "" : ": a corpus is missing, or no target has this name");
	return ran ? 0 : 1;
}
