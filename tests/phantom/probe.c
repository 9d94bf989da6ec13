/* phantom-probe: a small client of the driver API, for check.sh. It needs no CUDA headers. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "phantom.h"

static const char usage[] =
	"phantom-probe pci GPUS              JITWARM_PCI_DEVICES for a list of GPUs, without a driver\n"
	"phantom-probe container FILE [N]    writes a fat binary container with PTX only; N makes it\n"
	"                                    another one\n"
	"phantom-probe devices               one line a device\n"
	"phantom-probe load DEVICE FILE...   cuModuleLoadDataEx of each: result, whether ptxas ran, "
	"ms\n"
	"phantom-probe run DEVICE [block]    memset, copies, events, a launch, synchronization\n"
	"                                    (block: CU_CTX_SCHED_BLOCKING_SYNC)\n"
	"phantom-probe fork DEVICE           a context, then children by fork, vfork and exec, then "
	"run\n"
	"phantom-probe idle DEVICE SECONDS   keeps a context open; the processor time that this "
	"costs\n";

static void *library;

/* All functions used here return a CUresult and take integers and pointers, so on x86-64 one
 * prototype is enough. -1 means that this driver lacks the function. */
#define CU(name, ...) call(#name, (const uintptr_t[10]){__VA_ARGS__})
#define P(pointer)    ((uintptr_t)(pointer))

static int call(const char *name, const uintptr_t *a)
{
	typedef int cu_fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
					  uintptr_t, uintptr_t, uintptr_t, uintptr_t);
	void *found = dlsym(library, name);
	cu_fn *function;
	memcpy(&function, &found, sizeof function);
	if (!function)
		return -1;
	return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], 0);
}

static double now_ms(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- without a driver */

static int print_pci(const char *list)
{
	const char *bad;
	size_t length;
	if (!gpus_parse(list, &bad, &length)) {
		fprintf(stderr, "phantom-probe: no such GPU, or too many: %.*s\n", (int)length, bad);
		return 64;
	}
	for (uint32_t i = 0; i < gpu_count; i++)
		printf("%s%04x:%04x@0000:%02x:00.0", i ? "," : "", PCI_VENDOR_NVIDIA,
			   gpus[i].model->pci_device, gpus[i].bus);
	putchar('\n');
	return 0;
}

static size_t ptx_write(char *out, size_t room, unsigned n)
{
	static const char ptx[] =
		".version 6.3\n.target sm_50\n.address_size 64\n"
		".visible .entry probe_%u(.param .u64 p)\n{\n"
		"\t.reg .b32 %%r<3>;\n\t.reg .b64 %%d<4>;\n"
		"\tld.param.u64 %%d1, [p];\n\tcvta.to.global.u64 %%d2, %%d1;\n"
		"\tmov.u32 %%r1, %%tid.x;\n\tadd.s32 %%r2, %%r1, %u;\n\tst.global.u32 [%%d2], %%r2;\n"
		"\tret;\n}\n";
	return (size_t)snprintf(out, room, ptx, n, n) + 1;
}

/* A container with one PTX entry: 16 bytes of container header, 72 of entry header, the text. The
 * last 8 bytes of the entry header give the position of the ptxas options (none here); without them
 * libcuda reads other bytes as a string of options. Returns its size. */
static size_t container_write(uint8_t *out, size_t room, unsigned n)
{
	struct {
		uint32_t magic;
		uint16_t version, size;
		uint64_t rest;
	} head = {0xba55ed50, 1, 16, 0};
	struct {
		uint16_t kind, version;
		uint32_t size;
		uint64_t payload;
		uint32_t packed, options;
		uint16_t minor, major;
		uint32_t arch, name, name_length;
		uint64_t flags, zero, unpacked, no_options;
	} entry = {.kind = 1,
			   .version = 0x101,
			   .size = 72,
			   .options = 64,
			   .minor = 3,
			   .major = 6,
			   .arch = 50,
			   .flags = 0x11};
	char text[1024];
	size_t length = ptx_write(text, sizeof text, n);
	entry.payload = (length + 7) / 8 * 8;
	head.rest = sizeof entry + entry.payload;
	if (sizeof head + head.rest > room)
		return 0;
	memset(out, 0, sizeof head + head.rest);
	memcpy(out, &head, sizeof head);
	memcpy(out + sizeof head, &entry, sizeof entry);
	memcpy(out + sizeof head + sizeof entry, text, length);
	return sizeof head + head.rest;
}

static int container_save(const char *path, unsigned n)
{
	uint8_t image[2048];
	size_t size = container_write(image, sizeof image, n);
	FILE *file = fopen(path, "wb");
	if (!file)
		return 1;
	size_t written = fwrite(image, 1, size, file);
	return fclose(file) || written != size;
}

/* ---- with a driver */

static int context_open(int device, unsigned flags, void **ret_context)
{
	int ordinal, result = CU(cuDeviceGet, P(&ordinal), (uintptr_t)device);
	if (result)
		return result;
	if (flags)
		return CU(cuCtxCreate_v2, P(ret_context), flags, (uintptr_t)ordinal);
	result = CU(cuDevicePrimaryCtxRetain, P(ret_context), (uintptr_t)ordinal);
	return result ? result : CU(cuCtxSetCurrent, P(*ret_context));
}

static void device_print(int index, int driver)
{
	/* compute capability, multiprocessors, clocks */
	static const int attributes[] = {75, 76, 16, 13, 36};
	char name[128] = "", bus[32] = "";
	int device = 0, v[COUNT(attributes)];
	size_t memory = 0;
	CU(cuDeviceGet, P(&device), (uintptr_t)index);
	CU(cuDeviceGetName, P(name), sizeof name, (uintptr_t)device);
	CU(cuDeviceGetPCIBusId, P(bus), sizeof bus, (uintptr_t)device);
	CU(cuDeviceTotalMem_v2, P(&memory), (uintptr_t)device);
	for (size_t k = 0; k < COUNT(attributes); k++)
		if (CU(cuDeviceGetAttribute, P(&v[k]), (uintptr_t)attributes[k], (uintptr_t)device))
			v[k] = -1;
	printf("%d sm_%d%d %s %s %d SMs %zu MiB %d kHz %d kHz api %d\n", index, v[0], v[1], bus, name,
		   v[2], memory >> 20, v[3], v[4], driver);
}

static int devices_print(void)
{
	int count = 0, driver = 0;
	CU(cuDeviceGetCount, P(&count));
	CU(cuDriverGetVersion, P(&driver));
	for (int i = 0; i < count; i++)
		device_print(i, driver);
	return count ? 0 : 1;
}

static int load_one(const char *path)
{
	static uint8_t image[1 << 24];
	static char log[8192];
	enum { INFO_LOG_BUFFER = 3, INFO_LOG_BUFFER_SIZE = 4, LOG_VERBOSE = 12 };
	int option[] = {INFO_LOG_BUFFER, INFO_LOG_BUFFER_SIZE, LOG_VERBOSE};
	const uintptr_t value[] = {P(log), sizeof log, 1};
	void *module;
	FILE *file = fopen(path, "rb");
	size_t size = file ? fread(image, 1, sizeof image - 1, file) : 0;
	if (file)
		fclose(file);
	image[size] = 0;
	*log = 0;
	double start = now_ms(CLOCK_MONOTONIC);
	int result = CU(cuModuleLoadDataEx, P(&module), P(image), 3, P(option), P(value));
	printf("%s result %d ptxas %s %.0f ms\n", path, result, strstr(log, "ptxas") ? "ran" : "-",
		   now_ms(CLOCK_MONOTONIC) - start);
	return result;
}

static int load(int device, char **paths, int count)
{
	void *context;
	int result = context_open(device, 0, &context);
	if (result)
		printf("context: %d\n", result);
	for (int i = 0; i < count && !result; i++)
		result = load_one(paths[i]);
	return result != 0;
}

/* Does a step unless an earlier one failed; reports the step that failed. */
#define STEP(what, code)                                                                           \
	do {                                                                                           \
		if (!result && (result = (code)))                                                          \
			printf("%s: %d\n", what, result);                                                      \
	} while (0)

static int run_memory(uint64_t memory, uint64_t managed, size_t size)
{
	static uint8_t host[1 << 20];
	int result = 0;
	STEP("memset8", CU(cuMemsetD8_v2, memory, 0x5a, size));
	STEP("sync after memset8", CU(cuCtxSynchronize, 0));
	STEP("memset32", CU(cuMemsetD32_v2, memory, 7, 1000));
	STEP("sync after memset32", CU(cuCtxSynchronize, 0));
	memset(host, 0x33, size);
	STEP("host to device", CU(cuMemcpyHtoD_v2, memory, P(host), size));
	memset(host, 0, size);
	STEP("device to host", CU(cuMemcpyDtoH_v2, P(host), memory, size));
	STEP("copied data", host[0] == 0x33 && host[size - 1] == 0x33 ? 0 : -2);
	if (!result)
		*(volatile int *)managed = 1;
	return result;
}

static int run_kernel(uint64_t memory, bool block)
{
	uint8_t image[2048];
	void *module = NULL, *function = NULL, *event = NULL, *stream = NULL;
	void *arguments[] = {&memory};
	int result = 0;
	container_write(image, sizeof image, 7);
	STEP("module", CU(cuModuleLoadData, P(&module), P(image)));
	STEP("function", CU(cuModuleGetFunction, P(&function), P(module), P("probe_7")));
	STEP("stream", CU(cuStreamCreate, P(&stream), 1));
	STEP("event", CU(cuEventCreate, P(&event), block ? 1u : 0u));
	for (int i = 0; i < 3; i++) {
		STEP("launch",
			 CU(cuLaunchKernel, P(function), 4, 1, 1, 32, 1, 1, 0, P(stream), P(arguments)));
		STEP("record", CU(cuEventRecord, P(event), P(stream)));
		STEP("event wait", CU(cuEventSynchronize, P(event)));
		STEP("stream wait", CU(cuStreamSynchronize, P(stream)));
		STEP("sync", CU(cuCtxSynchronize, 0));
	}
	STEP("unload", CU(cuModuleUnload, P(module)));
	return result;
}

static int run(bool block)
{
	enum { SIZE = 1 << 20 };
	uint64_t memory = 0, managed = 0;
	int result = 0;
	STEP("alloc", CU(cuMemAlloc_v2, P(&memory), SIZE));
	STEP("managed", CU(cuMemAllocManaged, P(&managed), SIZE, 1));
	if (!result)
		result = run_memory(memory, managed, SIZE);
	if (!result)
		result = run_kernel(memory, block);
	STEP("free", CU(cuMemFree_v2, memory));
	STEP("free managed", CU(cuMemFree_v2, managed));
	if (!result)
		puts("ok");
	return result != 0;
}

static int run_on(int device, bool block)
{
	enum { CU_CTX_SCHED_BLOCKING_SYNC = 4 };
	void *context;
	int result = context_open(device, block ? CU_CTX_SCHED_BLOCKING_SYNC : 0, &context);
	if (result)
		printf("context: %d\n", result);
	return result ? 1 : run(block);
}

/* The context must survive what programs do between two uses of the GPU: children close every
 * descriptor, in their own memory (fork) or in the parent's (vfork). */

static pid_t fork_child(void)
{
	pid_t child = fork();
	if (child == 0) {
		closefrom(3);
		_exit(0);
	}
	return child;
}

static pid_t vfork_child(void)
{
	pid_t child =
		vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): vfork is tested here
	if (child == 0) {
		for (int fd = 3; fd < 200; fd++)
			close(fd);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	return child;
}

static int child_wait(pid_t child)
{
	int status;
	return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : -3;
}

static int run_after_children(int device)
{
	void *context;
	int result = 0;
	STEP("context", context_open(device, 0, &context));
	STEP("fork", child_wait(fork_child()));
	STEP("vfork", child_wait(vfork_child()));
	return result ? 1 : run(false);
}

static int idle(int device, const char *seconds)
{
	void *context;
	if (context_open(device, 0, &context))
		return 1;
	double start = now_ms(CLOCK_PROCESS_CPUTIME_ID);
	sleep((unsigned)strtoul(seconds, NULL, 10));
	printf("%.1f ms of processor time in %s s\n", now_ms(CLOCK_PROCESS_CPUTIME_ID) - start,
		   seconds);
	return 0;
}

static int with_driver(int argc, char **argv)
{
	const char *what = argv[1];
	int device = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library) {
		puts(dlerror());
		return 3;
	}
	int result = CU(cuInit, 0);
	if (result) {
		printf("cuInit: %d\n", result);
		return 4;
	}
	if (strcmp(what, "devices") == 0)
		return devices_print();
	if (strcmp(what, "load") == 0 && argc > 3)
		return load(device, argv + 3, argc - 3);
	if (strcmp(what, "run") == 0 && argc > 2)
		return run_on(device, argc > 3);
	if (strcmp(what, "fork") == 0 && argc > 2)
		return run_after_children(device);
	if (strcmp(what, "idle") == 0 && argc > 3)
		return idle(device, argv[3]);
	fputs(usage, stderr);
	return 64;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(what, "pci") == 0 && argc > 2)
		return print_pci(argv[2]);
	if (strcmp(what, "container") == 0 && argc > 2)
		return container_save(argv[2], argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1);
	if (argc > 1)
		return with_driver(argc, argv);
	fputs(usage, stderr);
	return 64;
}
