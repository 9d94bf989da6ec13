/* Passes containers to the CUDA runtime, as nvcc's code does. */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

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

/* Finds the runtime's functions; returns false if the library cannot be opened. */
static bool runtime_open(const char *path, struct runtime *ret_runtime)
{
	void *library = open_runtime(path);
	const struct {
		const char *name;
		void *function;
	} names[] = {{"__cudaRegisterFatBinary", &ret_runtime->add},
				 {"__cudaRegisterFunction", &ret_runtime->add_kernel},
				 {"__cudaRegisterFatBinaryEnd", &ret_runtime->end},
				 {"cudaFree", &ret_runtime->free},
				 {"cudaFuncGetAttributes", &ret_runtime->attributes}};

	for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
		void *found = symbol(library, names[i].name);

		memcpy(names[i].function, &found, sizeof found);
	}
	return library;
}

/* Registers the wrapper's container with a kernel k, whose address in the program is `host`. */
static void runtime_add(const struct runtime *runtime, struct wrapper *wrapper, const char *host)
{
	static char name[] = "k";
	void **handle = runtime->add(wrapper);

	runtime->add_kernel(handle, host, name, name, -1, NULL, NULL, NULL, NULL, NULL);
	runtime->end(handle);
}

/* Returns the bytes of a file, aligned as containers are, with zeros after them. */
static void *read_file(const char *path)
{
	char *bytes = aligned_alloc(64, MAX_BYTES);
	FILE *file = fopen(path, "rb");

	memset(bytes, 0, MAX_BYTES);
	if (!file || !fread(bytes, 1, MAX_BYTES, file))
		exit(2);
	fclose(file);
	return bytes;
}
