#include "driver/environment.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "driver/task.h"
#include "os/env.h"

int worker_command_check(struct jw_error *err, const char *const *command)
{
	char *marker = os_env(WORKER_MARKER);
	bool inside = marker && *marker;

	mem_free(marker);
	if (inside)
		return error_set(err, JW_ERR_USAGE, "a worker starts no workers: unset %s", WORKER_MARKER);
	if (!command || !command[0])
		return error_set(err, JW_ERR_USAGE, "no worker is named");
	return 0;
}

struct cache_profile profile_of_system(const struct jw_system *system)
{
	struct cache_profile profile = {.trust = system->driver.trust,
									.driver = system->driver.version};

	if (profile_is_known(system))
		memcpy(profile.stamp, system->driver.stamp, sizeof profile.stamp);
	memcpy(profile.library, system->driver.library, sizeof profile.library);
	return profile;
}

bool profile_is_known(const struct jw_system *system)
{
	return system->driver.stamp[0] && system->driver.trust != JW_TRUST_OPAQUE;
}

#define BACKGROUND "JITWARM_BACKGROUND"

/* The fixed variables of a worker. Source: docs/internals/driver-cache.md, "Limits and variables";
 * the driver reads all of them once, in cuInit. A NULL value removes the variable: FORCE_* would
 * compile warm modules, DISABLE_* would refuse to compile. */
static const struct environment_variable fixed[] = {
	{"CUDA_CACHE_DISABLE", "0"}, {"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_FORCE_PTX_JIT", NULL},
	{"CUDA_FORCE_JIT", NULL},    {"CUDA_DISABLE_PTX_JIT", NULL},   {"CUDA_DISABLE_JIT", NULL},
	{WORKER_MARKER, "1"},
};

enum { FIXED_COUNT = sizeof fixed / sizeof *fixed };

char **environment_with(struct jw_error *err, const struct environment_variable *variables,
						size_t variable_count)
{
	uv_env_item_t *items = NULL;
	char **environment;
	int count = 0;
	size_t used = 0;

	if (uv_os_environ(&items, &count)) {
		error_set(err, JW_ERR_IO, "the environment cannot be read");
		return NULL;
	}
	environment = mem_array((size_t)count + variable_count + 1, sizeof *environment);
	for (int i = 0; i < count; i++) {
		bool changed = false;

		for (size_t k = 0; k < variable_count; k++)
			changed = changed || text_equal_fold(variables[k].name, items[i].name);
		if (!changed)
			environment[used++] = mem_printf("%s=%s", items[i].name, items[i].value);
	}
	for (size_t i = 0; i < variable_count; i++)
		if (variables[i].value)
			environment[used++] = mem_printf("%s=%s", variables[i].name, variables[i].value);
	uv_os_free_environ(items, count);
	return environment;
}

char **environment_for_worker(struct jw_error *err, const char *cache_dir, uint64_t limit_bytes,
							  const char *task, bool background)
{
	const struct environment_variable unchanged[] = {{WORKER_MARKER, "1"}, {TASK_VARIABLE, task}};
	struct environment_variable variables[FIXED_COUNT + 4];
	char limit[TEXT_SHORT];

	if (!cache_dir)
		return environment_with(err, unchanged, sizeof unchanged / sizeof *unchanged);
	memcpy(variables, fixed, sizeof fixed);
	(void)snprintf(limit, sizeof limit, "%llu", (unsigned long long)limit_bytes);
	variables[FIXED_COUNT] = (struct environment_variable){"CUDA_CACHE_PATH", cache_dir};
	variables[FIXED_COUNT + 1] = (struct environment_variable){"CUDA_CACHE_MAXSIZE", limit};
	variables[FIXED_COUNT + 2] = (struct environment_variable){TASK_VARIABLE, task};
	variables[FIXED_COUNT + 3] = (struct environment_variable){BACKGROUND, background ? "1" : NULL};
	return environment_with(err, variables, FIXED_COUNT + 4);
}

bool environment_is_background(void)
{
	char *value = os_env(BACKGROUND);
	bool is = value && !strcmp(value, "1");

	mem_free(value);
	return is;
}

void environment_free(char **environment)
{
	for (char **at = environment; at && *at; at++)
		mem_free(*at);
	mem_free(environment);
}
