/* loading RUNTIME CONTAINER...: passes containers to the CUDA runtime, as nvcc's code does, each
 * with a kernel k. Prints the result of cudaFree(0) and the number of entries in the driver's cache
 * after it, and for each container the result of requesting its kernel and the number of entries
 * after that. RUNTIME is a shared library with the CUDA runtime. With STATIC_RUNTIME defined, this
 * program is linked to the runtime's archive, and RUNTIME is ignored. */
#include <dirent.h>

#include "runtime.h"

enum { MAX_CONTAINERS = 8 };

/* Counts the entries of the driver's cache: files in folders of folders, except the index. */
static unsigned entries_below(const char *folder, unsigned depth)
{
	DIR *directory = opendir(folder);
	unsigned count = 0;
	char path[1024];

	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (*entry->d_name == '.')
			continue;
		if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
			continue;
		count += depth == 2 ? 1 : entries_below(path, depth + 1);
	}
	if (directory)
		closedir(directory);
	return count;
}

static void say(int result)
{
	printf("%d:%u ", result, entries_below(getenv("CUDA_CACHE_PATH"), 0));
}

int main(int argc, char **argv)
{
	static struct wrapper wrappers[MAX_CONTAINERS];
	static char hosts[MAX_CONTAINERS], attributes[1 << 12];
	struct runtime runtime;

	(void)setvbuf(stdout, NULL, _IONBF, 0);
	if (argc < 3 || argc > 2 + MAX_CONTAINERS || !getenv("CUDA_CACHE_PATH") ||
		!runtime_open(argv[1], &runtime))
		return 2;
	for (int i = 2; i < argc; i++) {
		wrappers[i - 2] = (struct wrapper){0x466243b1, 1, read_file(argv[i]), NULL};
		runtime_add(&runtime, &wrappers[i - 2], &hosts[i - 2]);
	}
	say(runtime.free(NULL));
	for (int i = 2; i < argc; i++)
		say(runtime.attributes(attributes, &hosts[i - 2]));
	printf("\n");
	return 0;
}
