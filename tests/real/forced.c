/* forced FILE: hands every fat binary of a file to the driver with CUDA_FORCE_PTX_JIT=1, so that
 * the driver compiles the PTX of a library even if its machine code fits.
 *
 * The containers are found as docs/internals/fatbin.md describes; adjacent ones belong to one
 * library. Prints a line for each that the driver refuses, and the number of accepted ones. The
 * results are in the driver's cache (CUDA_CACHE_PATH). Exit status: 0; 1 one was refused; 2 no
 * driver; 64 usage. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int init_fn(unsigned flags);
typedef int device_fn(int *device, int ordinal);
typedef int retain_fn(void **context, int device);
typedef int current_fn(void *context);
typedef int load_fn(void **module, const void *image, unsigned count, int *options, void **values);
typedef int unload_fn(void *module);

static struct {
	load_fn *load;
	unload_fn *unload;
} cuda;

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "forced: the driver has no %s\n", name);
		exit(2);
	}
	return found;
}

static int open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
	int device = 0, result;
	init_fn *init;
	device_fn *get;
	retain_fn *retain;
	current_fn *set;

	if (!library) {
		fprintf(stderr, "forced: %s\n", dlerror());
		return -1;
	}
	*(void **)&init = function(library, "cuInit");
	*(void **)&get = function(library, "cuDeviceGet");
	*(void **)&retain = function(library, "cuDevicePrimaryCtxRetain");
	*(void **)&set = function(library, "cuCtxSetCurrent");
	*(void **)&cuda.load = function(library, "cuModuleLoadDataEx");
	*(void **)&cuda.unload = function(library, "cuModuleUnload");
	result = init(0);
	if (!result)
		result = get(&device, 0);
	if (!result)
		result = retain(&context, device);
	if (!result)
		result = set(context);
	if (result)
		fprintf(stderr, "forced: no context: %d\n", result);
	return result;
}

/* Returns the size of the container of version 1 that begins here, with its header; 0 if none does.
 * */
static size_t container_size(const uint8_t *at, size_t left)
{
	static const uint8_t start[8] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
	uint64_t size;

	if (left < 16 || memcmp(at, start, sizeof start) != 0)
		return 0;
	memcpy(&size, at + 8, sizeof size);
	return size && size <= left - 16 ? (size_t)size + 16 : 0;
}

int main(int argc, char **argv)
{
	unsigned loaded = 0, refused = 0;
	struct stat info;
	uint8_t *file;
	int fd;

	if (argc != 2) {
		fputs("usage: CUDA_FORCE_PTX_JIT=1 forced FILE\n", stderr);
		return 64;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) != 0) {
		perror(argv[1]);
		return 64;
	}
	file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED || open_driver())
		return 2;
	for (size_t at = 0, size; at < (size_t)info.st_size; at += size ? (size + 7) / 8 * 8 : 8) {
		void *module = NULL;
		int result;

		size = container_size(file + at, (size_t)info.st_size - at);
		if (!size)
			continue;
		result = cuda.load(&module, file + at, 0, NULL, NULL);
		if (result) {
			printf("%zu: %d\n", at, result);
			refused++;
		} else {
			loaded++;
			cuda.unload(module);
		}
		fflush(stdout);
	}
	printf("%u loaded, %u refused\n", loaded, refused);
	return refused != 0;
}
