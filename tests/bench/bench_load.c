/* bench_load FILE FIRST STEP < LIST loads containers one after the other, as a framework does
 *
 * LIST: offset and size of each in FILE, one per line. Loads the FIRST (from 0) and then every
 * STEPth with a bare cuModuleLoadDataEx, on the first GPU. Prints their number and the seconds. */
#include <stdio.h>
#include <stdlib.h>

#include "code/cuda.h"
#include "code/release.h"
#include "os/clock.h"
#include "os/file.h"

static int fail(const char *what, int result)
{
	(void)fprintf(stderr, "bench_load: %s: %d\n", what, result);
	return 1;
}

int main(int argc, char **argv)
{
	struct jw_error err = {0};
	struct cuda cuda;
	struct os_map map;
	void *context, *module;
	unsigned long long offset, size;
	int device, result, first, step, count = 0;
	uint64_t start = os_monotonic_ns();

	if (argc != 4)
		return fail("usage: bench_load FILE FIRST STEP < LIST", 64);
	first = atoi(argv[2]);
	step = atoi(argv[3]);
	if (os_map_open(&err, argv[1], &map) || cuda_open(&err, &cuda))
		return fail(err.message, -1);
	if ((result = cuda.cuInit(0)) || (result = cuda.cuDeviceGet(&device, 0)) ||
		(result = cuda.cuDevicePrimaryCtxRetain(&context, device)) ||
		(result = cuda.cuCtxSetCurrent(context)))
		return fail("no context", result);
	for (int i = 0; scanf("%llu %llu", &offset, &size) == 2; i++) {
		if (i < first || (i - first) % step != 0)
			continue;
		if (offset > map.size || size > map.size - offset)
			return fail("the list is not this file's", i);
		result = cuda.cuModuleLoadDataEx(&module, map.data + offset, 0, NULL, NULL);
		if (result)
			return fail("cuModuleLoadDataEx", result);
		(void)cuda.cuModuleUnload(module);
		count++;
	}
	os_map_close(&map);
	(void)printf("%d %.3f\n", count, (double)(os_monotonic_ns() - start) / 1e9);
	return 0;
}
