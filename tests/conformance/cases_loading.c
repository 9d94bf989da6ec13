/* The CUDA runtime passes a program's code to the driver at its start or at the first use of a
 * kernel, as jitwarm predicts. Each case is a program with one version of the runtime
 * (tests/driver/loading.c). */
#include "suite.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODULES = 3 };

/* Finds the runtime's library where scripts/get.sh cudart keeps it. */
static bool find_runtime(const char *version, char path[512])
{
	const char *store = getenv("JITWARM_CUDART"), *home = getenv("HOME");
	char pattern[512];
	glob_t found;
	bool any;

	if (store)
		snprintf(pattern, sizeof pattern, "%s/%s/nvidia/cuda_runtime/lib/libcudart.so.*", store,
				 version);
	else
		snprintf(pattern, sizeof pattern,
				 "%s/.cache/jitwarm/cudart/%s/nvidia/cuda_runtime/lib/libcudart.so.*",
				 home ? home : "", version);
	any = glob(pattern, 0, NULL, &found) == 0;
	if (any)
		snprintf(path, 512, "%s", found.gl_pathv[0]);
	globfree(&found);
	return any;
}

struct loaded {
	int result; /* the result of cudaFree(0) */
	unsigned at_start,
		at_use[MODULES]; /* the number of entries after that, and after each kernel */
};

/* `mode` is the value of CUDA_MODULE_LOADING; "" unsets it. */
static bool start_program(const char *runtime, const char *mode, struct loaded *ret_loaded)
{
	char self[512], command[4096], paths[MODULES][256], line[256] = "";
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	struct loaded loaded = {0};
	int results[MODULES];
	FILE *program;

	if (length < 0)
		return false;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (unsigned i = 0; i < MODULES; i++)
		snprintf(paths[i], sizeof *paths, "%s", module(i + 1));
	cache_clear();
	snprintf(
		command, sizeof command,
		"exec env -u CUDA_MODULE_LOADING %s%s CUDA_CACHE_PATH='%s' '%s/../driver/loading' '%s' "
		"'%s' '%s' '%s' 2>/dev/null",
		*mode ? "CUDA_MODULE_LOADING=" : "", mode, suite.cache, self, runtime, paths[0], paths[1],
		paths[2]);
	program = popen(command, "r");
	if (!program)
		return false;
	(void)!fgets(line, sizeof line, program);
	pclose(program);
	if (sscanf(line, "%d:%u %d:%u %d:%u %d:%u", &loaded.result, &loaded.at_start, &results[0],
			   &loaded.at_use[0], &results[1], &loaded.at_use[1], &results[2],
			   &loaded.at_use[2]) != 8)
		return false;
	*ret_loaded = loaded;
	return true;
}

/* From 11.8 on, a runtime loads lazily if the variable says so (with drivers from 515 on), or if
 * the variable is not set and the driver has CUDA 12.2 or newer. */
static enum outcome runtime_loads(long version)
{
	static const char *const modes[] = {"", "LAZY", "EAGER"};
	char name[64], path[512];

	snprintf(name, sizeof name, "%ld.%ld", version / 1000, version % 1000 / 10);
	if (!find_runtime(name, path))
		return case_skipped("the runtime is not at hand: scripts/get.sh cudart fetches it");
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		const bool lazy = version >= 11080 && strcmp(modes[i], "EAGER") != 0 &&
						  (*modes[i] ? suite.cuda >= 11070 : suite.cuda >= 12020);
		/* From 12.0 on the runtime loads for all GPUs of the process. */
		const unsigned gpus = version >= 12000 && suite.sm[1] ? 2 : 1;
		struct loaded loaded;

		if (!start_program(path, modes[i], &loaded) || loaded.result)
			return case_skipped("the CUDA runtime does not start here");
		CHECK_IS(loaded.at_start, lazy ? 0 : MODULES * gpus);
		for (unsigned k = 0; k < MODULES; k++)
			CHECK_IS(loaded.at_use[k], (lazy ? k + 1 : MODULES) * gpus);
	}
	return PASSED;
}

const struct test_case loading_cases[] = {
	{"loading/runtime 11.7 loads modules at the start", NULL, runtime_loads, 11070},
	{"loading/runtime 11.8 loads modules lazily", NULL, runtime_loads, 11080},
	{"loading/runtime 12.0 loads modules lazily", NULL, runtime_loads, 12000},
	{"loading/runtime 12.1 loads modules lazily", NULL, runtime_loads, 12010},
	{"loading/runtime 12.2 loads modules lazily", NULL, runtime_loads, 12020},
	{"loading/runtime 12.4 loads modules lazily", NULL, runtime_loads, 12040},
	{NULL, NULL},
};
