/* framework-app: starts as a GPU program of the eager kind does. It hands every container of the
 * sample framework to the driver, in the order of registration, and prints for each whether the
 * driver compiled it.
 *
 *     framework-app [DEVICE]
 *
 * Last line: "compiled N of M". Exit status: 0 all loaded, 1 a module failed, 4 no driver or GPU */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "sample.h"

/* CUjit_option and CUjitInputType; numbers from cuda.h. */
enum {
	JIT_INFO_LOG = 3,
	JIT_INFO_LOG_SIZE = 4,
	JIT_ERROR_LOG = 5,
	JIT_ERROR_LOG_SIZE = 6,
	JIT_VERBOSE = 12
};
enum { INPUT_FATBINARY = 2 };
enum { NO_BINARY_FOR_GPU = 209 };

/* The first CUDA version whose driver decompresses zstd: 550.54.14. */
#define READS_ZSTD 12040

static struct {
	int (*init)(unsigned);
	int (*version)(int *);
	int (*device)(int *, int);
	int (*retain)(void **, int);
	int (*set_current)(void *);
	int (*load)(void **, const void *, unsigned, int *, void **);
	int (*unload)(void *);
	int (*function)(void **, void *, const char *);
	int (*link_create)(unsigned, int *, void **, void **);
	int (*link_add)(void *, int, void *, size_t, const char *, unsigned, int *, void **);
	int (*link_complete)(void *, void **, size_t *);
	int (*link_destroy)(void *);
} cu;

static struct {
	char info[1 << 16];
	char error[1 << 12];
	int options[5];
	void *values[5];
} jit;

static struct {
	unsigned loaded, compiled, failed;
} sum;

/* Modules stay loaded to the end, as in the runtime. */
static struct {
	void *modules[32];
	size_t count;
} kept;

static void keep(void *module)
{
	if (module && kept.count < sizeof kept.modules / sizeof *kept.modules)
		kept.modules[kept.count++] = module;
}

static int find_functions(void)
{
	static const struct {
		const char *name;
		void *place;
	} table[] = {
		{"cuInit", &cu.init},
		{"cuDriverGetVersion", &cu.version},
		{"cuDeviceGet", &cu.device},
		{"cuDevicePrimaryCtxRetain", &cu.retain},
		{"cuCtxSetCurrent", &cu.set_current},
		{"cuModuleLoadDataEx", &cu.load},
		{"cuModuleUnload", &cu.unload},
		{"cuModuleGetFunction", &cu.function},
		{"cuLinkCreate_v2", &cu.link_create},
		{"cuLinkAddData_v2", &cu.link_add},
		{"cuLinkComplete", &cu.link_complete},
		{"cuLinkDestroy", &cu.link_destroy},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		driver_fn *function = driver_function(table[i].name);

		if (!function)
			return -1;
		memcpy(table[i].place, &function, sizeof function);
	}
	return 0;
}

/* Prepares log options only, since others would change the key. */
static void jit_reset(void)
{
	static const int options[] = {JIT_INFO_LOG, JIT_INFO_LOG_SIZE, JIT_ERROR_LOG,
								  JIT_ERROR_LOG_SIZE, JIT_VERBOSE};
	void *values[] = {jit.info, (void *)sizeof jit.info, jit.error, (void *)sizeof jit.error,
					  (void *)(uintptr_t)1};

	memset(jit.info, 0, sizeof jit.info);
	memset(jit.error, 0, sizeof jit.error);
	memcpy(jit.options, options, sizeof options);
	memcpy(jit.values, values, sizeof values);
}

/* The number of compiler messages in the log. A link's log grows from input to input. */
static unsigned log_lines(void)
{
	unsigned count = 0;

	for (const char *at = jit.info; (at = strstr(at, "ptxas")) != NULL; at++)
		count++;
	return count;
}

/* Reports that the compiler has run if the log has grown since `lines_before`. */
static void report(const char *name, int result, unsigned lines_before)
{
	int compiled = log_lines() > lines_before;

	if (result) {
		sum.failed++;
		printf("%-22s failed %d %.*s\n", name, result, (int)strcspn(jit.error, "\n"), jit.error);
		return;
	}
	sum.loaded++;
	sum.compiled += compiled ? 1 : 0;
	printf("%-22s %s\n", name, compiled ? "compiled" : "found");
}

/* Links the objects that follow a linked container, as the CUDA runtime does if the linked code
 * does not fit. */
static const struct sample_module *link_objects(const struct sample_module *module)
{
	const char *name = module->name;
	void *link = NULL, *cubin = NULL, *loaded = NULL, *function = NULL;
	size_t size = 0;
	unsigned lines = 0;
	int result;

	jit_reset();
	result = cu.link_create(5, jit.options, jit.values, &link);
	for (module++; module->name && module->kind == SAMPLE_OBJECT; module++) {
		if (!result)
			result = cu.link_add(link, INPUT_FATBINARY, (void *)(uintptr_t)module->data,
								 module->size, module->name, 0, NULL, NULL);
		report(module->name, result, lines);
		lines = log_lines();
	}
	if (!result)
		result = cu.link_complete(link, &cubin, &size);
	if (!result)
		result = cu.load(&loaded, cubin, 0, NULL, NULL);
	keep(loaded);
	if (!result)
		result = cu.function(&function, loaded, "sample_link");
	if (link)
		cu.link_destroy(link);
	if (result)
		sum.failed++;
	if (result)
		printf("%-22s failed to link %d\n", name, result);
	else
		printf("%-22s linked\n", name);
	return module;
}

static const struct sample_module *load(const struct sample_module *module, int version)
{
	void *loaded = NULL, *function = NULL;
	int result;

	if (module->kind == SAMPLE_ZSTD && version < READS_ZSTD) {
		printf("%-22s skipped: this driver reads no zstd\n", module->name);
		return module + 1;
	}
	jit_reset();
	result = cu.load(&loaded, module->wrapper->data, 5, jit.options, jit.values);
	keep(loaded);
	if (module->kind == SAMPLE_LINKED && result == NO_BINARY_FOR_GPU)
		return link_objects(module);
	if (!result)
		result = cu.function(&function, loaded,
							 module->kind == SAMPLE_LINKED ? "sample_link" : module->name);
	report(module->name, result, 0);
	for (module++; module->name && module->kind == SAMPLE_OBJECT;)
		module++;
	return module;
}

int main(int argc, char **argv)
{
	const struct sample_module *module = sample_modules;
	int device = 0, version = 0, result;
	void *context = NULL;

	if (!driver_open() || find_functions()) {
		fputs("framework-app: no CUDA driver\n", stderr);
		return 4;
	}
	result = cu.init(0);
	if (!result)
		result = cu.device(&device, argc > 1 ? atoi(argv[1]) : 0);
	if (!result)
		result = cu.retain(&context, device);
	if (!result)
		result = cu.set_current(context);
	if (result) {
		fprintf(stderr, "framework-app: the driver gives no context: error %d\n", result);
		return 4;
	}
	cu.version(&version);
	while (module->name)
		module = load(module, version);
	while (kept.count > 0)
		cu.unload(kept.modules[--kept.count]);
	printf("compiled %u of %u\n", sum.compiled, sum.loaded + sum.failed);
	return sum.failed ? 1 : 0;
}
