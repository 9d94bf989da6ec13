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

/* The variables of every worker. With those of debuggers and profilers the driver would load
 * libraries and write files wherever they say, also where another account can change them. Source:
 * docs/internals/driver-cache.md, "Limits and variables". */
static const struct environment_variable always[] = {
	{WORKER_MARKER, "1"},
	{"CUDA_INJECTION64_PATH", NULL},
	{"CUDA_ENABLE_USER_TRIGGERED_COREDUMP", NULL},
	{"CUDA_ENABLE_COREDUMP_ON_EXCEPTION", NULL},
	{"CUDA_COREDUMP_PIPE", NULL},
	{"CUDA_COREDUMP_FILE", NULL},
	{"CUDA_LOG_FILE", NULL},
};

/* The further variables of a worker that compiles; the driver reads all of them once, in cuInit.
 * FORCE_* would compile warm modules, DISABLE_* would refuse to compile. */
static const struct environment_variable compiling[] = {
	{"CUDA_CACHE_DISABLE", "0"}, {"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_FORCE_PTX_JIT", NULL},
	{"CUDA_FORCE_JIT", NULL},    {"CUDA_DISABLE_PTX_JIT", NULL},   {"CUDA_DISABLE_JIT", NULL},
};

enum {
	COUNT_ALWAYS = sizeof always / sizeof *always,
	COUNT_COMPILING = sizeof compiling / sizeof *compiling
};

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
	struct environment_variable variables[COUNT_ALWAYS + COUNT_COMPILING + 4];
	size_t count = COUNT_ALWAYS;
	char limit[TEXT_SHORT];

	memcpy(variables, always, sizeof always);
	variables[count++] = (struct environment_variable){TASK_VARIABLE, task};
	if (cache_dir) {
		(void)snprintf(limit, sizeof limit, "%llu", (unsigned long long)limit_bytes);
		memcpy(variables + count, compiling, sizeof compiling);
		count += COUNT_COMPILING;
		variables[count++] = (struct environment_variable){"CUDA_CACHE_PATH", cache_dir};
		variables[count++] = (struct environment_variable){"CUDA_CACHE_MAXSIZE", limit};
		variables[count++] = (struct environment_variable){BACKGROUND, background ? "1" : NULL};
	}
	return environment_with(err, variables, count);
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
