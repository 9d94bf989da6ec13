/* Each driver loads or refuses the machine code of each CUDA version's ptxas as jitwarm predicts,
 * in a container as in a library (docs/internals/driver-cache.md, "Which drivers load machine
 * code"; src/code/rules.c). `jitwarm compiler fetch` gets the compilers. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns the path of a compiler, "" if it does not exist. */
static const char *find_compiler(const char *version)
{
	static char path[512];
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache)
		snprintf(path, sizeof path, "%s/jitwarm/ptxas/%s/ptxas", cache, version);
	else
		snprintf(path, sizeof path, "%s/.cache/jitwarm/ptxas/%s/ptxas", home ? home : "", version);
	if (access(path, X_OK) != 0)
		path[0] = '\0';
	return path;
}

/* Returns the machine code of a text for the suite's first GPU; empty if the compiler fails.
 * `level` is one more option, or NULL. */
static struct blob compile(const char *ptxas, const struct blob *text, const char *level)
{
	char target[16], from[300], to[300];
	struct blob cubin = {NULL, 0};
	int status = -1;
	pid_t child;

	snprintf(target, sizeof target, "sm_%d", suite.sm[0]);
	snprintf(from, sizeof from, "%s/k.ptx", suite.scratch);
	snprintf(to, sizeof to, "%s/k.cubin", suite.scratch);
	(void)unlink(to);
	if (write_file(from, text->data, text->size)) {
		child = fork();
		if (!child) {
			execl(ptxas, ptxas, "-arch", target, "-o", to, from, level, (char *)NULL);
			_exit(127);
		}
		if (child > 0 && waitpid(child, &status, 0) == child && !status)
			(void)read_file(to, &cubin);
	}
	return cubin;
}

/* Compiles a kernel "k". */
static struct blob compile_kernel(const char *ptxas)
{
	char target[16];
	struct blob text, cubin;

	snprintf(target, sizeof target, "sm_%d", suite.sm[0]);
	text = part_text(&(struct part){.target = target, .version = suite.sm[0] > 86 ? "7.8" : "7.1"});
	cubin = compile(ptxas, &text, NULL);
	blob_free(&text);
	return cubin;
}

/* Loads a container with the compiler's code, and with PTX if `ptx`, in a client of its own. */
static enum outcome loads_beside(const char *version, bool ptx, int expected)
{
	const char *ptxas = find_compiler(version);
	char cache[320];
	const char *settings[] = {cache, NULL};
	struct client *client;
	struct answer answer;
	struct blob cubin;

	if (getenv("SIMDRIVER_GPUS"))
		return case_skipped("for NVIDIA's drivers");
	if (!*ptxas)
		return case_skipped("that ptxas is not at hand");
	cubin = compile_kernel(ptxas);
	CHECK(cubin.size > 0);
	const struct part parts[] = {
		{.nuls = 1},
		{.kind = 2, .arch = suite.sm[0], .data = cubin.data, .size = cubin.size},
	};

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	client = client_start(settings);
	CHECK(client != NULL);
	answer = client_load(client, "dataex", container(parts + !ptx, 1 + ptx), "k");
	client_stop(client);
	blob_free(&cubin);
	/* A refused container has no function. */
	CHECK_IS(answer.result, expected);
	if (!expected)
		CHECK_IS(answer.function, 0);
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* Code of CUDA 11, 12.0 and 12.1 loads in all drivers that know the GPU, code of 12.2 to 12.9 in
 * drivers of CUDA 12 for GPUs before sm_100. Drivers before CUDA 13 refuse code of CUDA 13; 12.4's
 * driver ends the process. */
static int expected_of(const char *version)
{
	const int major = atoi(version);

	if (major <= 11 || suite.cuda >= major * 1000 || !strcmp(version, "12.0") ||
		!strcmp(version, "12.1"))
		return 0;
	return major == 13 && suite.cuda / 10 == 1204 ? -1 : 200;
}

static enum outcome loads(const char *version)
{
	if (!strcmp(version, "11.7") && suite.sm[0] > 86)
		return case_skipped("that ptxas does not know the GPU");
	return loads_beside(version, false, expected_of(version));
}

#define COMPILER(major, minor)                                                                     \
	static enum outcome loads_##major##_##minor(void)                                              \
	{                                                                                              \
		return loads(#major "." #minor);                                                           \
	}
COMPILER(11, 7)
COMPILER(11, 8)
COMPILER(12, 0)
COMPILER(12, 1)
COMPILER(12, 2)
COMPILER(12, 3)
COMPILER(12, 4)
COMPILER(12, 5)
COMPILER(12, 6)
COMPILER(12, 8)
COMPILER(12, 9)
COMPILER(13, 0)
COMPILER(13, 1)
COMPILER(13, 2)
COMPILER(13, 3)
COMPILER(13, 4)
COMPILER(13, 5)

/* The program fails, though the driver could compile the PTX. */
static enum outcome refused_code_is_the_end(void)
{
	const char *newer = suite.cuda >= 12000 ? "13.0" : "12.4";

	if (suite.cuda >= 13000)
		return case_skipped("no compiler is newer than this driver");
	return loads_beside(newer, true, expected_of(newer));
}

/* A program that sets CU_JIT_OPTIMIZATION_LEVEL to 4, the default, has keys that end with -O4. */
static enum outcome level_4_is_an_option_of_ptxas(void)
{
	char version[16];
	const char *ptxas;
	struct blob text, cubin;
	struct entry entry = {0};
	bool same;

	snprintf(version, sizeof version, "%d.%d", suite.cuda / 1000, suite.cuda % 1000 / 10);
	ptxas = find_compiler(version);
	if (getenv("SIMDRIVER_GPUS"))
		return case_skipped("for NVIDIA's drivers");
	if (!*ptxas)
		return case_skipped("the driver's ptxas is not at hand");
	text = part_text(&(struct part){.statements = 200});
	cubin = compile(ptxas, &text, "-O4");
	blob_add(&text, NULL, 1);
	cache_clear();
	CHECK_IS(client_load(suite.client, "opt4", raw_file(text.data, text.size), "k").result, 0);
	CHECK(only_entry(&entry));
	CHECK(has_key(suite.sm[0], text.data, text.size, " -O4"));
	CHECK_IS(cubin.size, entry.value_size);
	same = !memcmp(cubin.data, entry.value, cubin.size);
	entry_free(&entry);
	blob_free(&cubin);
	blob_free(&text);
	CHECK(same);
	return PASSED;
}

#define LOADS(major, minor, from)                                                                  \
	{                                                                                              \
		"compiler/a cubin of ptxas " #major "." #minor " loads" from, loads_##major##_##minor      \
	}
const struct test_case compiler_cases[] = {
	LOADS(11, 7, ""),
	LOADS(11, 8, ""),
	LOADS(12, 0, ""),
	LOADS(12, 1, ""),
	LOADS(12, 2, " from CUDA 12.0 on"),
	LOADS(12, 3, " from CUDA 12.0 on"),
	LOADS(12, 4, " from CUDA 12.0 on"),
	LOADS(12, 5, " from CUDA 12.0 on"),
	LOADS(12, 6, " from CUDA 12.0 on"),
	LOADS(12, 8, " from CUDA 12.0 on"),
	LOADS(12, 9, " from CUDA 12.0 on"),
	LOADS(13, 0, " from CUDA 13.0 on"),
	LOADS(13, 1, " from CUDA 13.0 on"),
	LOADS(13, 2, " from CUDA 13.0 on"),
	LOADS(13, 3, " from CUDA 13.0 on"),
	LOADS(13, 4, " from CUDA 13.0 on"),
	LOADS(13, 5, " from CUDA 13.0 on"),
	{"compiler/if a cubin is refused, the driver does not try the PTX beside it",
	 refused_code_is_the_end},
	{"compiler/OPTIMIZATION_LEVEL 4 gives the same bytes as ptxas -O4",
	 level_4_is_an_option_of_ptxas},
	{NULL, NULL},
};
