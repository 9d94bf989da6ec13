/* The simulated driver's start, its devices and their attributes. */
#include "cuda_api.h"
#include "sim.h"

#include <stdio.h>
#include <string.h>

#include "os.h"

static int started = CU_NOT_INITIALIZED; /* under the process lock */

int api_state(void)
{
	int state;

	os_process_lock();
	state = started;
	os_process_unlock();
	return state ? state : fault_sticky();
}

int cuInit(unsigned flags)
{
	int state;

	if (flags)
		return CU_INVALID_VALUE;
	os_process_lock();
	if (started == CU_NOT_INITIALIZED)
		started = config_read();
	state = started;
	os_process_unlock();
	return state;
}

int cuDriverGetVersion(int *version)
{
	/* Programs may call this before cuInit; here cuInit reads the version, whatever it returns. */
	cuInit(0);
	if (!version)
		return CU_INVALID_VALUE;
	*version = sim.cuda_version;
	return CU_OK;
}

int cuDeviceGetCount(int *count)
{
	int bad = api_state();

	if (bad)
		return bad;
	*count = (int)sim.gpu_count;
	return CU_OK;
}

static int find(int device, const struct gpu **ret_gpu)
{
	int bad = api_state();

	if (bad)
		return bad;
	if (device < 0 || (size_t)device >= sim.gpu_count)
		return CU_INVALID_DEVICE;
	*ret_gpu = &sim.gpus[device];
	return CU_OK;
}

int cuDeviceGet(int *device, int ordinal)
{
	const struct gpu *gpu;
	int bad = find(ordinal, &gpu);

	if (!bad)
		*device = ordinal;
	return bad;
}

int cuDeviceGetName(char *name, int size, int device)
{
	const struct gpu *gpu;
	int bad = find(device, &gpu);

	if (!bad)
		snprintf(name, size > 0 ? (size_t)size : 0, "%s%s", gpu->name,
				 sim.mig ? " MIG 1g.10gb" : "");
	return bad;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	const struct gpu *gpu;
	int bad = find(device, &gpu);

	if (bad)
		return bad;
	switch (attribute) {
	case 1: *value = 1024; break;     /* MAX_THREADS_PER_BLOCK */
	case 10: *value = 32; break;      /* WARP_SIZE */
	case 13: *value = 1725000; break; /* CLOCK_RATE */
	case 16: *value = gpu->multiprocessors; break;
	case 20: *value = gpu->compute_mode; break;
	case 33: *value = (int)gpu->pci_bus; break;
	case 34: *value = 0; break;       /* PCI_DEVICE_ID: the slot */
	case 36: *value = 7001000; break; /* MEMORY_CLOCK_RATE */
	case 50: *value = 0; break;       /* PCI_DOMAIN_ID */
	case 75: *value = gpu->sm / 10; break;
	case 76: *value = gpu->sm % 10; break;
	default: *value = 0; break;
	}
	return CU_OK;
}

int cuDeviceComputeCapability(int *major, int *minor, int device)
{
	int bad = cuDeviceGetAttribute(major, 75, device);

	return bad ? bad : cuDeviceGetAttribute(minor, 76, device);
}

int cuDeviceGetUuid_v2(void *uuid, int device)
{
	const struct gpu *gpu;
	int bad = find(device, &gpu);

	if (!bad)
		memcpy(uuid, gpu->uuid, sizeof gpu->uuid);
	return bad;
}

/* Returns the whole GPU's id, which no slice of it (MIG) has. */
int cuDeviceGetUuid(void *uuid, int device)
{
	int bad = cuDeviceGetUuid_v2(uuid, device);

	if (!bad && sim.mig)
		memset(uuid, 0xff, 8);
	return bad;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	const struct gpu *gpu;
	int bad = find(device, &gpu);

	if (!bad)
		*bytes = (size_t)(sim.memory_mib ? sim.memory_mib : gpu->memory_mib) << 20;
	return bad;
}

int cuDeviceGetPCIBusId(char *id, int size, int device)
{
	const struct gpu *gpu;
	int bad = find(device, &gpu);

	if (bad)
		return bad;
	if (size < 13)
		return CU_INVALID_VALUE;
	snprintf(id, (size_t)size, "0000:%02x:00.0", sim.mig ? 1 : gpu->pci_bus);
	return CU_OK;
}

static const struct {
	int code;
	const char *name, *text;
} errors[] = {
	{CU_OK, "CUDA_SUCCESS", "no error"},
	{CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{CU_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{CU_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
	 "CUDA-capable device(s) is/are busy or unavailable"},
	{CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{CU_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{CU_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{CU_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{CU_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
	 "no kernel image is available for execution on the device"},
	{CU_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{CU_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	 "the provided PTX was compiled with an unsupported toolchain."},
	{CU_JIT_COMPILATION_DISABLED, "CUDA_ERROR_JIT_COMPILATION_DISABLED",
	 "PTX JIT compilation was disabled"},
	{CU_INVALID_SOURCE, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
	{CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{CU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{CU_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int error_text(int error, const char **text, bool name)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == error) {
			*text = name ? errors[i].name : errors[i].text;
			return CU_OK;
		}
	*text = NULL;
	return CU_INVALID_VALUE;
}

int cuGetErrorName(int error, const char **text)
{
	return error_text(error, text, true);
}

int cuGetErrorString(int error, const char **text)
{
	return error_text(error, text, false);
}
