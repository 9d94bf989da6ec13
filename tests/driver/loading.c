/* loading RUNTIME CONTAINER...: passes containers to the CUDA runtime, as nvcc's code does, each
 * with a kernel k. Prints the result of cudaFree(0) and the number of entries in the driver's cache
 * after it, and for each container the result of requesting its kernel and the number of entries
 * after that. RUNTIME is a shared library with the CUDA runtime. With STATIC_RUNTIME defined, this
 * program is linked to the runtime's archive, and RUNTIME is ignored. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONTAINERS = 8, MOST_BYTES = 1 << 20 };

struct wrapper {
	int magic, version;
	void *data, *inputs;
};

struct runtime {
	void **(*add)(struct wrapper *wrapper);
	void (*add_kernel)(void **handle, const char *host, char *name, const char *device, int limit,
					   void *thread, void *block, void *block_dim, void *grid_dim, int *warp);
	void (*end)(void **handle); /* since CUDA 10.1 */
	int (*free)(void *pointer);
	int (*attributes)(void *attributes, const void *host);
};

#ifdef STATIC_RUNTIME
void __cudaRegisterFatBinary(void);
void __cudaRegisterFunction(void);
void __cudaRegisterFatBinaryEnd(void);
void cudaFree(void);
void cudaFuncGetAttributes(void);

static const struct {
	const char *name;
	void (*function)(void);
} linked[] = {{"__cudaRegisterFatBinary", __cudaRegisterFatBinary},
			  {"__cudaRegisterFunction", __cudaRegisterFunction},
			  {"__cudaRegisterFatBinaryEnd", __cudaRegisterFatBinaryEnd},
			  {"cudaFree", cudaFree},
			  {"cudaFuncGetAttributes", cudaFuncGetAttributes}};

static void *open_runtime(const char *path)
{
	(void)path;
	return (void *)linked;
}

static void *symbol(void *library, const char *name)
{
	void *found = NULL;

	(void)library;
	for (size_t i = 0; i < sizeof linked / sizeof *linked; i++)
		if (!strcmp(linked[i].name, name))
			memcpy(&found, &linked[i].function, sizeof found);
	return found;
}
#else
static void *open_runtime(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	return library;
}

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return found;
}
#endif

static void *read_file(const char *path)
{
	char *bytes = aligned_alloc(64, MOST_BYTES);
	FILE *file = fopen(path, "rb");

	if (!file || !fread(bytes, 1, MOST_BYTES, file))
		exit(2);
	fclose(file);
	return bytes;
}

/* Counts the entries of the driver's cache: files in folders of folders, except the index. */
static unsigned entries_below(const char *folder, unsigned depth)
{
	DIR *directory = opendir(folder);
	unsigned count = 0;
	char path[1024];

	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (*entry->d_name == '.')
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
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
	static struct wrapper wrappers[MOST_CONTAINERS];
	static char hosts[MOST_CONTAINERS], attributes[1 << 12], name[] = "k";
	void *library = argc > 2 ? open_runtime(argv[1]) : NULL;
	struct runtime runtime;
	const struct {
		const char *name;
		void *function;
	} names[] = {{"__cudaRegisterFatBinary", &runtime.add},
				 {"__cudaRegisterFunction", &runtime.add_kernel},
				 {"__cudaRegisterFatBinaryEnd", &runtime.end},
				 {"cudaFree", &runtime.free},
				 {"cudaFuncGetAttributes", &runtime.attributes}};

	(void)setvbuf(stdout, NULL, _IONBF, 0);
	if (!library || argc > 2 + MOST_CONTAINERS || !getenv("CUDA_CACHE_PATH"))
		return 2;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *found = symbol(library, names[i].name);

		memcpy(names[i].function, &found, sizeof found);
	}
	for (int i = 2; i < argc; i++) {
		void **handle;

		wrappers[i - 2] = (struct wrapper){0x466243b1, 1, read_file(argv[i]), NULL};
		handle = runtime.add(&wrappers[i - 2]);
		runtime.add_kernel(handle, &hosts[i - 2], name, name, -1, NULL, NULL, NULL, NULL, NULL);
		runtime.end(handle);
	}
	say(runtime.free(NULL));
	for (int i = 2; i < argc; i++)
		say(runtime.attributes(attributes, &hosts[i - 2]));
	printf("\n");
	return 0;
}
