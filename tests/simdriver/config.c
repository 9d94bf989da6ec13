/* The environment variables of the simulated driver, and NVIDIA's. */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

struct config sim;

static const struct gpu known[] = {
#define GPU(arch, pci, title, mib, count)                                                          \
	{.sm = (arch),                                                                                 \
	 .pci_device = (pci),                                                                          \
	 .name = (title),                                                                              \
	 .memory_mib = (mib),                                                                          \
	 .multiprocessors = (count)},
#include "gpus.inc"
#undef GPU
};

/* Reads "550.200.01" as numbers. */
static void read_version(const char *text)
{
	memset(sim.version, 0, sizeof sim.version);
	for (size_t i = 0; i < 3 && *text; i++) {
		char *end;

		sim.version[i] = (unsigned)strtoul(text, &end, 10);
		text = *end == '.' ? end + 1 : end;
	}
}

static bool version_at_least(unsigned a, unsigned b, unsigned c)
{
	const unsigned *v = sim.version;

	return v[0] != a ? v[0] > a : v[1] != b ? v[1] > b : v[2] >= c;
}

bool config_reads_zstd(void)
{
	return version_at_least(550, 54, 14);
}

unsigned config_newest_isa(void)
{
	static const struct {
		int cuda;
		unsigned isa;
	} table[] = {
		{9000, 60},  {9010, 61},  {9020, 62},  {10000, 63}, {10010, 64}, {10020, 65},
		{11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74}, {11050, 75},
		{11060, 76}, {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81}, {12020, 82},
		{12030, 83}, {12040, 84}, {12050, 85}, {12060, 85}, {12070, 86}, {12080, 87},
		{12090, 88}, {13000, 90}, {13010, 91}, {13020, 92}, {13030, 93}, {13040, 94},
	};
	unsigned newest = 60;

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (sim.cuda_version >= table[i].cuda)
			newest = table[i].isa;
	return newest;
}

static bool add_gpu(const char *name, size_t position)
{
	int sm = strncmp(name, "sm_", 3) == 0 ? atoi(name + 3) : 0;
	struct gpu *gpu = &sim.gpus[sim.gpu_count];

	if (sm <= 0 || sim.gpu_count == SIM_GPUS_MAX)
		return false;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].sm == sm) {
			*gpu = known[i];
			gpu->pci_bus = (unsigned)position + 1;
			put_u64(gpu->uuid, sim_fnv(SIM_FNV_START, name, 5));
			put_u64(gpu->uuid + 8, sim_fnv(SIM_FNV_START + position, name, 5));
			sim.gpu_count++;
			return true;
		}
	return false;
}

/* CUDA_VISIBLE_DEVICES: indices in the wanted order; the first invalid one ends the list. */
static void hide_gpus(char *visible)
{
	struct config all = sim;

	sim.gpu_count = 0;
	for (char *at = visible; *at;) {
		char *end;
		unsigned long index = strtoul(at, &end, 10);

		if (end == at || index >= all.gpu_count || sim.gpu_count == SIM_GPUS_MAX)
			break;
		sim.gpus[sim.gpu_count++] = all.gpus[index];
		at = *end == ',' ? end + 1 : end;
		if (end[0] != ',')
			break;
	}
}

/* Reads a number for each GPU. */
static void read_compute_modes(void)
{
	char *list = os_env("SIMDRIVER_COMPUTE_MODE");
	const char *at = list ? list : "";

	for (size_t i = 0; i < sim.gpu_count && *at; i++) {
		sim.gpus[i].compute_mode = atoi(at);
		at += strcspn(at, ",");
		at += *at == ',';
	}
	free(list);
}

static int read_gpus(void)
{
	char *list = os_env("SIMDRIVER_GPUS");
	char *visible = os_env("CUDA_VISIBLE_DEVICES");
	char name[16];
	size_t position = 0;

	sim.gpu_count = 0;
	for (const char *at = list ? list : "sm_86"; *at; position++) {
		size_t length = strcspn(at, ",");

		snprintf(name, sizeof name, "%.*s", (int)length, at);
		if (!add_gpu(name, position)) {
			fprintf(stderr, "simdriver: SIMDRIVER_GPUS: no such GPU: %s\n", name);
			sim.gpu_count = 0;
			break;
		}
		at += length + (at[length] == ',');
	}
	read_compute_modes();
	if (visible)
		hide_gpus(visible);
	free(visible);
	free(list);
	return sim.gpu_count ? CU_OK : CU_NO_DEVICE;
}

/* Copies the text of a variable, or a default, to a buffer. */
static void env_text(char *to, size_t size, const char *name, const char *otherwise)
{
	char *value = os_env(name);

	snprintf(to, size, "%s", value ? value : otherwise);
	free(value);
}

static bool env_on(const char *name)
{
	char text[8];

	env_text(text, sizeof text, name, "0");
	return atoi(text) == 1;
}

/* The first variable, if set, overrides the second, also with the value 0. */
static bool env_on_before(const char *first, const char *second)
{
	char *set = os_env(first);
	bool is_set = set != NULL;

	free(set);
	return env_on(is_set ? first : second);
}

/* Reads a decimal prefix: "1G" is 1, "abc" and "" are 0; numbers above 4 GiB or below 0 are 4 GiB.
 * */
static uint64_t read_limit(void)
{
	const uint64_t most = UINT64_C(4) << 30;
	char *text = os_env("CUDA_CACHE_MAXSIZE");
	uint64_t limit = text ? strtoull(text, NULL, 10) : UINT64_C(1) << 30;

	free(text);
	return limit > most ? most : limit;
}

static void read_cache_variables(void)
{
	sim.cache_disabled = env_on("CUDA_CACHE_DISABLE");
	sim.cache_limit = read_limit();
	sim.cache_directory = os_env("CUDA_CACHE_PATH");
	if (!sim.cache_directory) {
		sim.cache_directory = os_default_cache();
	} else if (!*sim.cache_directory) {
		/* A variable that is set and empty means no caching. */
		free(sim.cache_directory);
		sim.cache_directory = NULL;
	}
	sim.force_jit = env_on_before("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT");
	sim.jit_disabled = env_on("CUDA_DISABLE_PTX_JIT") || env_on("CUDA_DISABLE_JIT");
}

/* The real driver loads a library, reads or writes files, or waits for a program, where these name
 * them; the simulated one says so. */
static void log_debug_variables(void)
{
	static const char *const names[] = {"CUDA_INJECTION64_PATH",
										"CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
										"CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
										"CUDA_COREDUMP_PIPE",
										"CUDA_COREDUMP_FILE",
										"CUDA_LOG_FILE",
										"CUDA_AMODEL_DLL",
										"COMPUTE_PROFILE_LOG",
										"NVTX_INJECTION64_PATH",
										"DUMP_KNOBS_TO_FILE",
										"UNKNOWN_TO_JITWARM",
										"CUDBG_INJECTION_PATH",
										"CUDA_MPS_PIPE_DIRECTORY",
										"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
										"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
										"CUDA_MPS_CLIENT_PRIORITY"};

	char *home = os_env("HOME"), path[4096];
	struct os_file settings;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *value = os_env(names[i]);

		if (value && strcmp(value, "/dev/null") != 0)
			log_event("debug", "%s", names[i]);
		free(value);
	}
	snprintf(path, sizeof path, "%s/.nv/nvidia-application-profile-globals-rc", home ? home : "");
	if (os_open(&settings, path, OS_READ)) {
		log_event("debug", "%s", path);
		os_close(&settings);
	}
	free(home);
}

int config_read(void)
{
	char text[64];

	env_text(text, sizeof text, "SIMDRIVER_VERSION", "550.200.01");
	read_version(text);
	env_text(text, sizeof text, "SIMDRIVER_CUDA", "12040");
	sim.cuda_version = atoi(text);
	env_text(text, sizeof text, "SIMDRIVER_STAMP", "Feb 29 2024 23:59:58");
	/* Date and time, with or without a blank between them. */
	snprintf(sim.stamp, sizeof sim.stamp, "%.11s%.8s", text, text + 11 + (text[11] == ' '));
	env_text(text, sizeof text, "SIMDRIVER_COST", "0.01");
	sim.cost_factor = strtod(text, NULL);
	sim.cost_busy = strstr(text, "busy") != NULL;
	env_text(text, sizeof text, "SIMDRIVER_TAIL_DELAY_MS", "0");
	sim.tail_delay_ms = (unsigned)strtoul(text, NULL, 10);
	env_text(text, sizeof text, "SIMDRIVER_GPU_FREE", "0");
	sim.free_mib = (unsigned)strtoul(text, NULL, 10);
	env_text(text, sizeof text, "SIMDRIVER_GPU_MEMORY", "0");
	sim.memory_mib = (unsigned)strtoul(text, NULL, 10);
	sim.mig = env_on("SIMDRIVER_MIG");
	sim.fault = os_env("SIMDRIVER_FAULT");
	sim.log = os_env("SIMDRIVER_LOG");
	log_debug_variables();
	sim.state = os_env("SIMDRIVER_STATE");
	sim.gate = os_env("SIMDRIVER_GATE");
	read_cache_variables();
	env_text(text, sizeof text, "SIMDRIVER_INIT", "0");
	return atoi(text) ? atoi(text) : read_gpus();
}

void log_event(const char *event, const char *format, ...)
{
	char line[512];
	int used = snprintf(line, sizeof line, "%lu %s ", os_pid(), event);
	struct os_file file;
	va_list list;

	if (!sim.log || used < 0)
		return;
	va_start(list, format);
	vsnprintf(line + used, sizeof line - (size_t)used - 1, format, list);
	va_end(list);
	line[strlen(line) + 1] = '\0';
	line[strlen(line)] = '\n';
	if (!os_open(&file, sim.log, OS_APPEND))
		return;
	os_append(&file, line, strlen(line));
	os_close(&file);
}
