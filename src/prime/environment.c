#include "prime/environment.h"

#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/text.h"

/* What is fixed in a worker. Source: docs/driver-cache.md, "Limits and variables"; all are read
 * once, in cuInit. A NULL value takes the variable away: FORCE_* would compile what is there
 * already, DISABLE_* would refuse to. */
static const struct {
	const char *name, *value;
} fixed[] = {
	{"CUDA_CACHE_DISABLE", "0"},  {"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_FORCE_PTX_JIT", NULL},
	{"CUDA_FORCE_JIT", NULL},     {"CUDA_DISABLE_PTX_JIT", NULL},   {"CUDA_DISABLE_JIT", NULL},
	{"CUDA_CACHE_PATH", NULL}, /* these two are set by hand below */
	{"CUDA_CACHE_MAXSIZE", NULL},
};

enum { FIXED_COUNT = sizeof fixed / sizeof *fixed };

static bool is_fixed(const char *name)
{
	for (size_t i = 0; i < FIXED_COUNT; i++)
		if (text_equal_fold(fixed[i].name, name))
			return true;
	return false;
}

char **environment_for_worker(struct jw_error *err, const char *cache_dir, uint64_t limit_bytes)
{
	uv_env_item_t *items = NULL;
	char **environment = NULL;
	int count = 0;
	size_t used = 0;
	bool complete = false;

	if (uv_os_environ(&items, &count)) {
		error_set(err, JW_ERR_IO, "the environment cannot be read");
		return NULL;
	}
	environment = mem_array(err, (size_t)count + FIXED_COUNT + 3, sizeof *environment);
	if (!environment)
		goto done;
	for (int i = 0; i < count; i++) {
		if (is_fixed(items[i].name))
			continue;
		environment[used] = mem_printf(err, "%s=%s", items[i].name, items[i].value);
		if (!environment[used++])
			goto done;
	}
	for (size_t i = 0; i < FIXED_COUNT; i++) {
		if (!fixed[i].value)
			continue;
		environment[used] = mem_printf(err, "%s=%s", fixed[i].name, fixed[i].value);
		if (!environment[used++])
			goto done;
	}
	environment[used] = mem_printf(err, "CUDA_CACHE_PATH=%s", cache_dir);
	if (!environment[used++])
		goto done;
	environment[used] = mem_printf(err, "CUDA_CACHE_MAXSIZE=%llu", (unsigned long long)limit_bytes);
	complete = environment[used] != NULL;
done:
	uv_os_free_environ(items, count);
	if (!complete) {
		environment_free(environment);
		environment = NULL;
	}
	return environment;
}

void environment_free(char **environment)
{
	for (char **at = environment; at && *at; at++)
		mem_free(*at);
	mem_free(environment);
}
