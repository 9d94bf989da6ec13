#include "driver/environment.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/child_variables.h"
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

/* The further variables of a worker that compiles; the driver reads all of them once, in cuInit.
 * FORCE_* would compile warm modules, DISABLE_* would refuse to compile. */
static const struct child_variable compiling[] = {
	{"CUDA_CACHE_DISABLE", "0"}, {"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_FORCE_PTX_JIT", NULL},
	{"CUDA_FORCE_JIT", NULL},    {"CUDA_DISABLE_PTX_JIT", NULL},   {"CUDA_DISABLE_JIT", NULL},
};

enum { COUNT_COMPILING = sizeof compiling / sizeof *compiling };

char **environment_for_compiler(struct jw_error *err, const char *folder)
{
	const struct child_variable temporary = {"TMPDIR", folder};

	return child_variables_passed(err, &temporary, 1);
}

char **environment_for_worker(struct jw_error *err, const char *cache_dir, uint64_t limit_bytes,
							  const char *task, bool background)
{
	struct child_variable variables[COUNT_COMPILING + 5] = {{WORKER_MARKER, "1"},
															{WORKER_TASK, task}};
	size_t count = 2;
	char limit[TEXT_SHORT];

	if (cache_dir) {
		(void)snprintf(limit, sizeof limit, "%llu", (unsigned long long)limit_bytes);
		memcpy(variables + count, compiling, sizeof compiling);
		count += COUNT_COMPILING;
		variables[count++] = (struct child_variable){"CUDA_CACHE_PATH", cache_dir};
		variables[count++] = (struct child_variable){"CUDA_CACHE_MAXSIZE", limit};
		variables[count++] = (struct child_variable){BACKGROUND, background ? "1" : NULL};
	}
	return child_variables_passed(err, variables, count);
}

bool environment_is_background(void)
{
	char *value = os_env(BACKGROUND);
	bool is = value && !strcmp(value, "1");

	mem_free(value);
	return is;
}
