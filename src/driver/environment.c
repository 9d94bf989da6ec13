#include "driver/environment.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "driver/task.h"
#include "os/env.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/platform.h"
#include "os/process.h"

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
#define CONFINED   "JITWARM_CONFINED"
#define MPS_FOLDER "CUDA_MPS_PIPE_DIRECTORY"

/* The variables that a worker or compiler gets, beside those below: whole names ("HOME="), and
 * beginnings. By others (CUDA_INJECTION64_PATH, DUMP_KNOBS_TO_FILE …) NVIDIA's driver and compilers
 * load libraries and write files, also where another account can change them. Source:
 * docs/internals/driver-cache.md, "Limits and variables". */
static const char *const passed[] = {
	"CUDA_CACHE_DISABLE=",
	"CUDA_CACHE_MAXSIZE=",
	"CUDA_CACHE_PATH=",
	"CUDA_DEVICE_ORDER=",
	"CUDA_DISABLE_JIT=",
	"CUDA_DISABLE_PTX_JIT=",
	"CUDA_FORCE_JIT=",
	"CUDA_FORCE_PTX_JIT=",
	"CUDA_MODULE_LOADING=",
	"CUDA_VISIBLE_DEVICES=",
	"CUDA_MPS_PIPE_DIRECTORY=",
	"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=",
	"CUDA_MPS_CLIENT_PRIORITY=",
	"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=",
	"JITWARM_",
	/* the system's, and Windows', of which libuv adds those without which no program starts */
	"HOME=",
	"LANG",
	"LC_",
	"LD_",
	"PATH=",
	"TMPDIR=",
	"XDG_",
	"APPDATA=",
	"COMMONPROGRAM",
	"LOCALAPPDATA=",
	"NUMBER_OF_PROCESSORS=",
	"PROCESSOR_",
	"PROGRAM",
	"TMP=",
};

/* And those of tests, sanitizers and Wine. */
static const char *const passed_for_tests[] = {
	"ASAN_", "FAKE_",  "GCOV_", "LLVM_PROFILE_FILE=", "LSAN_", "PHANTOM_", "SIMDRIVER_", "TORTURE",
	"TSAN_", "UBSAN_", "WINE",
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The further variables of a worker that compiles; the driver reads all of them once, in cuInit.
 * FORCE_* would compile warm modules, DISABLE_* would refuse to compile. */
static const struct environment_variable compiling[] = {
	{"CUDA_CACHE_DISABLE", "0"}, {"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_FORCE_PTX_JIT", NULL},
	{"CUDA_FORCE_JIT", NULL},    {"CUDA_DISABLE_PTX_JIT", NULL},   {"CUDA_DISABLE_JIT", NULL},
};

enum { COUNT_COMPILING = sizeof compiling / sizeof *compiling };

static bool is_listed(const char *pair, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_starts_fold(pair, list[i]))
			return true;
	return false;
}

static bool is_passed(const char *pair)
{
	return is_listed(pair, passed, COUNT(passed)) ||
		   is_listed(pair, passed_for_tests, COUNT(passed_for_tests));
}

/* Returns whether MPS, if it runs, is root's or this account's. cuInit waits for the answer of
 * whoever listens in the folder (/tmp/nvidia-mps unless the variable names another one), which any
 * account can make. For root, no other account may exchange the socket after this answer; every
 * account may write to the socket itself. */
static bool mps_is_ours(void)
{
	char *folder = os_env(MPS_FOLDER), *control;
	bool is;

	if (os_separator != '/') {
		mem_free(folder);
		return true;
	}
	if (!folder)
		folder = mem_string("/tmp/nvidia-mps");
	control = os_join(folder, "control");
	is = os_is_ours(control) && !os_check_trusted(NULL, folder);
	mem_free(control);
	mem_free(folder);
	return is;
}

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

/* Returns whether what libcuda opens there, ~/.nv/nvidia-application-profile*, can be another
 * account's, also from a time when the folder was open to others. */
static bool has_others_profile(const char *folder)
{
	struct os_stranger stranger;
	struct os_names names;
	bool has = false;

	if (os_list_unfollowed(NULL, folder, "nvidia-application-profile", &names))
		return false;
	for (size_t i = 0; i < names.count && !has; i++) {
		char *path = os_join(folder, names.items[i]);

		has = names.kinds[i] != OS_REGULAR || os_find_stranger(path, &stranger);
		mem_free(path);
	}
	os_names_free(&names);
	return has;
}

/* Returns whether the variable names a folder in which root's compiler or driver would read what
 * another account can put there. */
static bool names_others_folder(const char *pair)
{
	const bool home = text_starts(pair, "HOME=");
	const char *value = strchr(pair, '=');
	struct os_stranger stranger;
	char *path;
	bool is;

	if (!home && !text_starts(pair, "XDG_") && !text_starts(pair, "TMPDIR="))
		return false;
	path = home ? os_join(value + 1, ".nv") : mem_string(value + 1);
	is = os_find_stranger(path, &stranger) || (home && (stranger.open || has_others_profile(path)));
	mem_free(path);
	return is;
}

/* Drops the variables that are not passed. */
static char **only_passed(char **environment)
{
	size_t kept = 0;

	for (char **at = environment; at && *at; at++) {
		if (is_passed(*at) && !names_others_folder(*at))
			environment[kept++] = *at;
		else
			mem_free(*at);
	}
	if (environment)
		environment[kept] = NULL;
	return environment;
}

char **environment_for_compiler(struct jw_error *err, const char *folder)
{
	const struct environment_variable temporary = {"TMPDIR", folder};

	return only_passed(environment_with(err, &temporary, 1));
}

char **environment_for_worker(struct jw_error *err, const char *cache_dir, uint64_t limit_bytes,
							  const char *live_cache, const char *task, bool background)
{
	struct environment_variable variables[COUNT_COMPILING + 7] = {{WORKER_MARKER, "1"},
																  {TASK_VARIABLE, task}};
	size_t count = 2;
	char limit[TEXT_SHORT];

	variables[count++] =
		(struct environment_variable){CONFINED, cache_dir ? cache_dir : live_cache};
	if (!mps_is_ours()) /* no folder can have this path */
		variables[count++] = (struct environment_variable){MPS_FOLDER, "/dev/null"};
	if (cache_dir) {
		(void)snprintf(limit, sizeof limit, "%llu", (unsigned long long)limit_bytes);
		memcpy(variables + count, compiling, sizeof compiling);
		count += COUNT_COMPILING;
		variables[count++] = (struct environment_variable){"CUDA_CACHE_PATH", cache_dir};
		variables[count++] = (struct environment_variable){"CUDA_CACHE_MAXSIZE", limit};
		variables[count++] = (struct environment_variable){BACKGROUND, background ? "1" : NULL};
	}
	return only_passed(environment_with(err, variables, count));
}

void environment_confine(void)
{
	/* For the device files and the names of threads; on Tegra and WSL, too. No other account can
	 * make these names. */
	static const char *const places[] = {
		"/dev/null", "/dev/nvidia*", "/dev/nvhost*", "/dev/nvmap",
		"/dev/dri",  "/dev/dxg",     "/dev/shm",     "/proc/self",
	};
	char *confined = os_env(CONFINED), **environment = NULL, **paths;
	size_t count = 0, used = 0;

	if (confined && os_is_superuser())
		environment = environment_with(NULL, NULL, 0);
	if (!environment) {
		mem_free(confined);
		return;
	}
	while (environment[count])
		count++;
	paths = mem_array(COUNT(places) + 1 + count, sizeof *paths);
	for (; used < COUNT(places); used++)
		paths[used] = mem_string(places[used]);
	paths[used++] = confined;
	for (char **at = environment; *at; at++) {
		const char *value = strchr(*at, '=') + 1;

		if (JITWARM_WITH_TESTS && *value == '/' &&
			is_listed(*at, passed_for_tests, COUNT(passed_for_tests)))
			paths[used++] = os_dir_name(value); /* a log, which may not exist yet */
	}
	os_change_only((const char *const *)paths, used);
	while (used)
		mem_free(paths[--used]);
	mem_free(paths);
	environment_free(environment);
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
