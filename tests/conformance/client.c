/* The client is a process of its own with the driver, which does one load for each line that it
 * reads. */
#include "suite.h"

#include <dlfcn.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct client {
	pid_t pid;
	FILE *to, *from;
};

static char last_error[1024];

/* ---- the suite's side ---- */

static void become_client(const char *const *settings)
{
	char *arguments[] = {(char[]){"conformance"}, (char[]){"--client"}, NULL};

	for (; *settings; settings++) {
		char *setting = strdup(*settings);
		char *value = setting ? strchr(setting, '=') : NULL;

		if (!setting)
			_exit(127);
		if (strcmp(setting, "-directory") == 0) {
			if (chdir(*++settings) != 0)
				_exit(127);
		} else if (value) {
			*value = '\0';
			setenv(setting, value + 1, 1);
		} else {
			unsetenv(setting);
		}
	}
	signal(SIGPIPE, SIG_DFL);
	execv("/proc/self/exe", arguments);
	_exit(127);
}

struct client *client_start(const char *const *settings)
{
	struct client *client = calloc(1, sizeof *client);
	int to[2], from[2];

	if (!client || pipe(to) != 0 || pipe(from) != 0)
		abort();
	client->pid = fork();
	if (client->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[0]);
		close(to[1]);
		close(from[0]);
		close(from[1]);
		become_client(settings);
	}
	close(to[0]);
	close(from[1]);
	client->to = fdopen(to[1], "w");
	client->from = fdopen(from[0], "r");
	if (client->pid < 0 || !client->to || !client->from)
		abort();
	return client;
}

void client_stop(struct client *client)
{
	fclose(client->to);
	fclose(client->from);
	waitpid(client->pid, NULL, 0);
	free(client);
}

static bool ask(struct client *client, char *line, size_t size)
{
	fprintf(client->to, "%s\n", line);
	return fflush(client->to) == 0 && fgets(line, (int)size, client->from);
}

struct answer client_load(struct client *client, const char *call, const char *path,
						  const char *function)
{
	struct answer answer = {.result = -1};
	char line[2048];

	snprintf(line, sizeof line, "%s %s %s", call, path, function ? function : "-");
	*last_error = '\0';
	if (ask(client, line, sizeof line) &&
		sscanf(line, "%d %d %d %lf %1023[^\n]", &answer.result, &answer.compiled, &answer.function,
			   &answer.ms, last_error) < 4)
		answer.result = -1;
	return answer;
}

struct answer load(const char *path)
{
	return client_load(suite.client, "dataex", path, NULL);
}

const char *client_error(void)
{
	return last_error;
}

void client_ask(struct client *client, int *ret_cuda, int ret_sm[2])
{
	char line[128] = "info";

	if (!ask(client, line, sizeof line) ||
		sscanf(line, "%d %d %d", ret_cuda, &ret_sm[0], &ret_sm[1]) != 3)
		*ret_cuda = 0;
}

/* ---- the client's side ---- */

static void *library;

typedef int call_fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
					uintptr_t);

/* All functions used here take integers and pointers: one prototype suffices on x86-64. */
static int call(const char *name, const uintptr_t *a)
{
	void *found = dlsym(library, name);
	call_fn *function;

	memcpy(&function, &found, sizeof function);
	return function ? function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]) : -2;
}
#define CU(name, ...) call(#name, (const uintptr_t[8]){__VA_ARGS__})
#define P(pointer)    ((uintptr_t)(pointer))

static struct {
	char info[1 << 16], error[8192];
	int options[8];
	uintptr_t values[8];
	unsigned count;
} jit;

static void jit_option(int option, uintptr_t value)
{
	jit.options[jit.count] = option;
	jit.values[jit.count++] = value;
}

static void jit_reset(bool optimise)
{
	jit.count = 0;
	*jit.info = *jit.error = '\0';
	jit_option(3, P(jit.info));
	jit_option(4, sizeof jit.info);
	jit_option(5, P(jit.error));
	jit_option(6, sizeof jit.error);
	jit_option(12, 1);
	if (optimise)
		jit_option(7, 4);
}

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Adds an input to a link, which is never completed. */
static int link_one(const void *image, size_t size)
{
	uintptr_t link = 0;
	int text = memcmp(image, ".v", 2) == 0;
	int result = CU(cuLinkCreate_v2, jit.count, P(jit.options), P(jit.values), P(&link));

	if (!result)
		result = CU(cuLinkAddData_v2, link, text ? 1 : 2, P(image), size + (size_t)text, P("input"),
					0, 0, 0);
	if (link)
		CU(cuLinkDestroy, link);
	return result;
}

static int load_one(const char *how, const void *image, size_t size, uintptr_t *ret_module)
{
	struct {
		uint32_t magic, version;
		const void *data, *more;
	} wrapper = {0x466243b1, 1, image, NULL};

	if (strncmp(how, "wrapper-", 8) == 0) {
		how += 8;
		image = &wrapper;
	}
	if (strcmp(how, "data") == 0)
		return CU(cuModuleLoadData, P(ret_module), P(image));
	if (strcmp(how, "fatbin") == 0)
		return CU(cuModuleLoadFatBinary, P(ret_module), P(image));
	if (strcmp(how, "library") == 0)
		return CU(cuLibraryLoadData, P(ret_module), P(image), 0, 0, 0, 0, 0, 0);
	if (strcmp(how, "link") == 0)
		return link_one(image, size);
	return CU(cuModuleLoadDataEx, P(ret_module), P(image), jit.count, P(jit.options),
			  P(jit.values));
}

static void answer(const char *how, const char *path, const char *function)
{
	struct blob image;
	uintptr_t module = 0, found = 0;
	int result, asked = 0;
	double start;

	if (!read_file(path, &image)) {
		puts("-1 0 0 0");
		return;
	}
	jit_reset(strcmp(how, "opt4") == 0);
	start = now_ms();
	result = load_one(how, image.data, image.size, &module);
	start = now_ms() - start;
	if (!result && module && strcmp(function, "-") != 0)
		asked = CU(cuModuleGetFunction, P(&found), module, P(function));
	jit.error[strcspn(jit.error, "\n")] = '\0';
	printf("%d %d %d %.1f %s\n", result, strstr(jit.info, "ptxas") != NULL, asked, start,
		   jit.error);
	if (module && strstr(how, "library"))
		CU(cuLibraryUnload, module);
	else if (module)
		CU(cuModuleUnload, module);
	blob_free(&image);
}

static void give_up_override(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return;
	data[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
	syscall(SYS_capset, &header, data);
}

static int open_context(int ordinal)
{
	int device = 0;
	uintptr_t context = 0;
	int result = CU(cuDeviceGet, P(&device), (uintptr_t)ordinal);

	if (!result)
		result = CU(cuDevicePrimaryCtxRetain, P(&context), (uintptr_t)device);
	return result ? result : CU(cuCtxSetCurrent, context);
}

static void tell(void)
{
	int cuda = 0, count = 0, sm[2] = {0, 0};

	CU(cuDriverGetVersion, P(&cuda));
	CU(cuDeviceGetCount, P(&count));
	for (int i = 0; i < count && i < 2; i++) {
		int major = 0, minor = 0;

		CU(cuDeviceGetAttribute, P(&major), 75, (uintptr_t)i);
		CU(cuDeviceGetAttribute, P(&minor), 76, (uintptr_t)i);
		sm[i] = major * 10 + minor;
	}
	printf("%d %d %d\n", cuda, sm[0], sm[1]);
}

int client_main(void)
{
	char line[2048], how[16], path[1024], function[256];
	int result;

	setvbuf(stdout, NULL, _IOLBF, 0);
	library = dlopen("libcuda.so.1", RTLD_NOW);
	result = library ? CU(cuInit, 0) : -1;
	if (!result)
		result = open_context(0);
	if (result) {
		fprintf(stderr, "conformance: no driver: %d\n", result);
		return 1;
	}
	while (fgets(line, sizeof line, stdin)) {
		int number;

		if (strcmp(line, "info\n") == 0)
			tell();
		else if (sscanf(line, "device %d", &number) == 1)
			printf("%d 0 0 0\n", open_context(number));
		else if (sscanf(line, "lockerror %d", &number) == 1)
			printf("%d 0 0 0\n", locks_fail_with(number));
		else if (sscanf(line, "setenv %1023s", path) == 1)
			printf("%d 0 0 0\n", putenv(strdup(path)));
		else if (strcmp(line, "readonly - -\n") == 0)
			give_up_override(), puts("0 0 0 0");
		else if (sscanf(line, "account %d", &number) == 1)
			printf("%d 0 0 0\n",
				   setgroups(0, NULL) || setgid((gid_t)number) || setuid((uid_t)number));
		else if (strcmp(line, "umask - -\n") == 0)
			umask(0), puts("0 0 0 0");
		else if (sscanf(line, "%15s %1023s %255s", how, path, function) == 3)
			answer(how, path, function);
	}
	return 0;
}
