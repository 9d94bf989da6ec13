/* Modules and their functions. A library is a module loaded by another call. */
#include "cuda_api.h"
#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct function {
	struct function *next;
};

struct module {
	struct bytes cubin;
	struct function *functions;
};

static struct module *module_new(const struct bytes *cubin)
{
	struct module *module = sim_alloc(sizeof *module);

	module->cubin = *cubin;
	return module;
}

int cuModuleLoadDataEx(struct module **ret_module, const void *image, unsigned count, int *options,
					   void **values)
{
	struct build build = {.context = context_current()};
	struct bytes cubin = {NULL, 0};
	int bad = api_state();

	if (bad)
		return bad;
	if (!build.context)
		return CU_INVALID_CONTEXT;
	if (!ret_module || !image)
		return CU_INVALID_VALUE;
	jit_options_read(&build.options, count, options, values);
	bad = module_build(&build, image, 0, &cubin);
	build_free(&build);
	if (!bad)
		*ret_module = module_new(&cubin);
	return bad;
}

int cuModuleLoadData(struct module **module, const void *image)
{
	return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

int cuModuleLoadFatBinary(struct module **module, const void *image)
{
	return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

int cuModuleUnload(struct module *module)
{
	int bad = api_state();

	if (bad)
		return bad;
	if (!module)
		return CU_INVALID_VALUE;
	while (module->functions) {
		struct function *next = module->functions->next;

		free(module->functions);
		module->functions = next;
	}
	bytes_free(&module->cubin);
	free(module);
	return CU_OK;
}

int cuModuleGetFunction(struct function **function, struct module *module, const char *name)
{
	struct function *found;
	int bad = api_state();

	if (bad)
		return bad;
	if (!function || !module || !name)
		return CU_INVALID_VALUE;
	if (!cubin_has_function(module->cubin.data, module->cubin.size, name))
		return CU_NOT_FOUND;
	found = sim_alloc(sizeof *found);
	found->next = module->functions;
	module->functions = found;
	*function = found;
	return CU_OK;
}

/* A library belongs to no context: it is compiled for every GPU of the process. The result for the
 * first GPU is kept. */
int cuLibraryLoadData(struct module **library, const void *image, int *jit_options,
					  void **jit_values, unsigned jit_count, int *options, void **values,
					  unsigned count)
{
	struct build build = {0};
	struct bytes first = {NULL, 0};
	int bad = api_state();

	(void)options;
	(void)values;
	(void)count;
	if (bad)
		return bad;
	if (!library || !image)
		return CU_INVALID_VALUE;
	jit_options_read(&build.options, jit_count, jit_options, jit_values);
	for (int device = 0; !bad && (size_t)device < sim.gpu_count; device++) {
		struct context *context = NULL;
		struct bytes cubin = {NULL, 0};

		bad = cuDevicePrimaryCtxRetain(&context, device);
		build.context = context;
		if (!bad)
			bad = module_build(&build, image_unwrap(image), 0, &cubin);
		if (!first.data)
			first = cubin;
		else
			bytes_free(&cubin);
	}
	build_free(&build);
	if (bad)
		bytes_free(&first);
	else
		*library = module_new(&first);
	return bad;
}

int cuLibraryUnload(struct module *library)
{
	return cuModuleUnload(library);
}
