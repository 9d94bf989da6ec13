/* linked RUNTIME LINKED [INPUT|zeros]...: passes a linked container to the CUDA runtime, as nvcc's
 * code for -rdc=true does. "zeros" is an input that was stripped. Prints the results of cudaFree(0)
 * and of requesting the kernel k. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 8, MAX_BYTES = 1 << 20 };

struct wrapper {
	int magic, version;
	void *data, *inputs;
};

struct runtime {
	void **(*add)(struct wrapper *wrapper);
	void (*add_kernel)(void **handle, const char *host, char *name, const char *device, int limit,
					   void *thread, void *block, void *block_dim, void *grid_dim, int *warp);
	void (*end)(void **handle);
	int (*free)(void *pointer);
	int (*attributes)(void *attributes, const void *host);
};

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return found;
}

static void *read_file(const char *path)
{
	char *bytes = aligned_alloc(64, MAX_BYTES);
	FILE *file = strcmp(path, "zeros") ? fopen(path, "rb") : NULL;

	memset(bytes, 0, MAX_BYTES);
	if (file && !fread(bytes, 1, MAX_BYTES, file))
		exit(2);
	if (file)
		fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	static void *inputs[MAX_INPUTS + 1];
	static char host, attributes[1 << 12], name[] = "k";
	static struct wrapper wrapper = {0x466243b1, 2, NULL, inputs};
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL, **handle;
	struct runtime runtime;
	const struct {
		const char *name;
		void *function;
	} names[] = {{"__cudaRegisterFatBinary", &runtime.add},
				 {"__cudaRegisterFunction", &runtime.add_kernel},
				 {"__cudaRegisterFatBinaryEnd", &runtime.end},
				 {"cudaFree", &runtime.free},
				 {"cudaFuncGetAttributes", &runtime.attributes}};

	if (!library || argc > 3 + MAX_INPUTS)
		return 2;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *found = symbol(library, names[i].name);

		memcpy(names[i].function, &found, sizeof found);
	}
	wrapper.data = read_file(argv[2]);
	for (int i = 3; i < argc; i++)
		inputs[i - 3] = read_file(argv[i]);
	handle = runtime.add(&wrapper);
	runtime.add_kernel(handle, &host, name, name, -1, NULL, NULL, NULL, NULL, NULL);
	runtime.end(handle);
	printf("%d", runtime.free(NULL));
	printf(" %d\n", runtime.attributes(attributes, &host));
	return 0;
}
