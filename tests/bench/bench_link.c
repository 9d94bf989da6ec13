/* bench_link FILE OFFSET SIZE [ROUNDS] the time that the driver takes to link a library's
 * relocatable code, which the CUDA runtime does at every start
 *
 * OFFSET and SIZE are those of the section __nv_relfatbin (readelf -S). Hands the first eighth,
 * quarter, half of the containers and all of them to the driver's linker, on the first GPU, ROUNDS
 * times each after one round that fills the cache. Prints a line of CSV for each: containers, their
 * bytes, processor milliseconds to hand them over, to link, bytes of the result. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda.h"
#include "os/clock.h"
#include "os/file.h"

typedef int complete_fn(void *state, void **cubin, size_t *size);

static struct cuda cuda;
static complete_fn *complete;

static int fail(const char *what, int result)
{
	(void)fprintf(stderr, "bench_link: %s: %d\n", what, result);
	return 1;
}

/* Size with its header; 0 if no container begins here. */
static size_t container_size(const uint8_t *at, size_t left)
{
	uint64_t size;

	if (left < 16 || memcmp(at, "\x50\xed\x55\xba", 4) != 0)
		return 0;
	memcpy(&size, at + 8, 8);
	return size > left - 16 ? 0 : (size_t)size + 16;
}

static double ms_since(uint64_t since)
{
	return (double)(os_cpu_ns() - since) / 1e6;
}

/* Links the first `most` containers. */
static int link_some(uint8_t *data, size_t size, size_t most, bool print)
{
	void *state, *cubin;
	size_t count = 0, at = 0, bytes = 0, one, made;
	uint64_t began = os_cpu_ns();
	double added_ms;
	int result = cuda.cuLinkCreate_v2(0, NULL, NULL, &state);

	while (!result && count < most && at < size) {
		one = container_size(data + at, size - at);
		if (one) {
			result = cuda.cuLinkAddData_v2(state, CUDA_JIT_INPUT_FATBINARY, data + at, one, "input",
										   0, NULL, NULL);
			bytes += one;
			count++;
		}
		at += one ? one : 8;
	}
	if (result)
		return fail("cuLinkAddData", result);
	added_ms = ms_since(began);
	began = os_cpu_ns();
	result = complete(state, &cubin, &made);
	if (result)
		return fail("cuLinkComplete", result);
	if (print)
		(void)printf("%zu,%zu,%.2f,%.2f,%zu\n", count, bytes, added_ms, ms_since(began), made);
	(void)cuda.cuLinkDestroy(state);
	return 0;
}

static size_t count_containers(const uint8_t *data, size_t size)
{
	size_t count = 0;

	for (size_t at = 0, one; at < size; at += one ? one : 8) {
		one = container_size(data + at, size - at);
		count += one > 0;
	}
	return count;
}

int main(int argc, char **argv)
{
	struct jw_error err = {0};
	struct os_map map;
	uint8_t *data;
	void *context, *library = dlopen("libcuda.so.1", RTLD_NOW);
	uint64_t offset = argc > 3 ? strtoull(argv[2], NULL, 0) : 0;
	uint64_t size = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	const int rounds = argc > 4 ? atoi(argv[4]) : 3;
	size_t all;
	int device, result;

	if (argc < 4)
		return fail("usage: bench_link FILE OFFSET SIZE [ROUNDS]", 64);
	if (!library || os_map_open(&err, argv[1], &map) || cuda_open(&err, &cuda))
		return fail(err.message, -1);
	if (offset > map.size || size > map.size - offset)
		return fail("the section is not this file's", 64);
	*(void **)&complete = dlsym(library, "cuLinkComplete");
	if ((result = cuda.cuInit(0)) || (result = cuda.cuDeviceGet(&device, 0)) ||
		(result = cuda.cuDevicePrimaryCtxRetain(&context, device)) ||
		(result = cuda.cuCtxSetCurrent(context)))
		return fail("no context", result);
	data = malloc(size);
	if (!data)
		return fail("out of memory", -1);
	memcpy(data, map.data + offset, size);
	all = count_containers(data, size);
	if (link_some(data, size, all, false))
		return 1;
	(void)puts("containers,bytes,add_ms,link_ms,cubin_bytes");
	for (size_t part = 8; part; part /= 2)
		for (int round = 0; round < rounds; round++)
			(void)link_some(data, size, (all + part - 1) / part, true);
	free(data);
	os_map_close(&map);
	return 0;
}
