/* Run-time linking: every input is compiled through the cache; the link's result is not cached. */
#include "cuda_api.h"
#include "sim.h"

#include <stdlib.h>
#include <string.h>

enum { INPUT_CUBIN = 0, INPUT_PTX = 1, INPUT_FATBINARY = 2, INPUT_OBJECT = 3, INPUT_LIBRARY = 4 };

struct link {
	struct build build;
	uint64_t inputs; /* a hash of their cubins */
	size_t size;
	struct bytes names; /* the names of their functions */
	size_t functions;
	struct bytes result;
};

int cuLinkCreate_v2(unsigned count, int *options, void **values, struct link **ret_link)
{
	struct link *link;
	int bad = api_state();

	if (bad)
		return bad;
	if (!context_current())
		return CU_INVALID_CONTEXT;
	link = sim_alloc(sizeof *link);
	link->build.context = context_current();
	link->build.link = true;
	jit_options_read(&link->build.options, count, options, values);
	*ret_link = link;
	return CU_OK;
}

static bool has_function(const struct link *link, const char *name)
{
	const char *at = (const char *)link->names.data;

	for (size_t i = 0; i < link->functions; i++, at += strlen(at) + 1)
		if (!strcmp(at, name))
			return true;
	return false;
}

/* If another input defines a function, too, 470 fails with 999, and 535 with 300. */
static int add_functions(struct link *link, const struct bytes *cubin)
{
	struct bytes names = {NULL, 0};
	const size_t count = cubin_functions(cubin->data, cubin->size, &names);
	const char *at = (const char *)names.data;
	bool twice = false;

	for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
		twice = twice || has_function(link, at);
	bytes_add(&link->names, names.data, names.size);
	link->functions += count;
	bytes_free(&names);
	if (!twice)
		return CU_OK;
	return sim.cuda_version < 12000 ? CU_UNKNOWN : CU_INVALID_SOURCE;
}

int cuLinkAddData_v2(struct link *link, int type, void *data, size_t size, const char *name,
					 unsigned count, int *options, void **values)
{
	struct bytes cubin = {NULL, 0};
	int bad = api_state();

	(void)name;
	(void)count;
	(void)options;
	(void)values;
	if (bad)
		return bad;
	if (!link || !data || type < INPUT_CUBIN || type > INPUT_LIBRARY)
		return CU_INVALID_VALUE;
	bad = module_build(&link->build, data, type == INPUT_FATBINARY ? 0 : size, &cubin);
	if (bad || !cubin.data)
		return bad;
	link->inputs = sim_fnv(link->inputs, cubin.data, cubin.size);
	link->size += cubin.size;
	bad = add_functions(link, &cubin);
	bytes_free(&cubin);
	return bad;
}

static int strike_link(void)
{
	static const char name[] = "cuLinkComplete";
	struct bytes error = {NULL, 0};
	const int bad = fault_strike((const uint8_t *)name, sizeof name - 1, &error);

	bytes_free(&error);
	return bad;
}

int cuLinkComplete(struct link *link, void **cubin, size_t *size)
{
	struct cubin_wish wish = {
		.sm = sim.gpus[link->build.context->device].sm,
		.seed = link->inputs,
		.size = link->size,
		.names = link->names.data ? link->names.data : (const uint8_t *)"",
		.names_size = link->names.size,
		.entries = link->functions,
	};
	int bad = api_state();

	if (bad)
		return bad;
	bad = strike_link();
	if (bad)
		return bad;
	bytes_free(&link->result);
	cubin_make(&link->result, &wish);
	*cubin = link->result.data;
	if (size)
		*size = link->result.size;
	return CU_OK;
}

int cuLinkDestroy(struct link *link)
{
	if (!link)
		return CU_INVALID_VALUE;
	build_free(&link->build);
	bytes_free(&link->names);
	bytes_free(&link->result);
	free(link);
	return CU_OK;
}
