/* cuGetProcAddress takes names without their version suffix, as cuda.h's macros hide it. */
#include "cuda_api.h"
#include "sim.h"

#include <string.h>

typedef void any_fn(void);

#define FUNCTION(name)                                                                             \
	{                                                                                              \
#name, (any_fn *)(name)                                                                    \
	}
#define VERSIONED(name, version)                                                                   \
	{#name, (any_fn *)(name##version)},                                                            \
	{                                                                                              \
#name #version, (any_fn *)(name##version)                                                  \
	}

static const struct {
	const char *name;
	any_fn *function;
} functions[] = {
	FUNCTION(cuInit),
	FUNCTION(cuDriverGetVersion),
	FUNCTION(cuDeviceGetCount),
	FUNCTION(cuDeviceGet),
	FUNCTION(cuDeviceGetName),
	FUNCTION(cuDeviceGetAttribute),
	FUNCTION(cuDeviceComputeCapability),
	VERSIONED(cuDeviceGetUuid, _v2),
	VERSIONED(cuDeviceTotalMem, _v2),
	FUNCTION(cuDeviceGetPCIBusId),
	FUNCTION(cuGetErrorName),
	FUNCTION(cuGetErrorString),
	FUNCTION(cuDevicePrimaryCtxRetain),
	VERSIONED(cuDevicePrimaryCtxRelease, _v2),
	VERSIONED(cuCtxCreate, _v2),
	VERSIONED(cuCtxDestroy, _v2),
	FUNCTION(cuCtxSetCurrent),
	FUNCTION(cuCtxGetCurrent),
	FUNCTION(cuCtxGetDevice),
	FUNCTION(cuCtxSynchronize),
	VERSIONED(cuMemGetInfo, _v2),
	FUNCTION(cuModuleLoadData),
	FUNCTION(cuModuleLoadDataEx),
	FUNCTION(cuModuleLoadFatBinary),
	FUNCTION(cuModuleUnload),
	FUNCTION(cuModuleGetFunction),
	FUNCTION(cuLibraryLoadData),
	FUNCTION(cuLibraryUnload),
	VERSIONED(cuLinkCreate, _v2),
	VERSIONED(cuLinkAddData, _v2),
	FUNCTION(cuLinkComplete),
	FUNCTION(cuLinkDestroy),
	VERSIONED(cuGetProcAddress, _v2),
};

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
	(void)version;
	(void)flags;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i].name, symbol) == 0) {
			memcpy(function, &functions[i].function, sizeof *function);
			return CU_OK;
		}
	*function = NULL;
	return CU_NOT_FOUND;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
						int *status)
{
	int bad = cuGetProcAddress(symbol, function, version, flags);

	if (status)
		*status = bad ? 1 : 0; /* 1: symbol not found */
	return bad;
}

/* cuDeviceTotalMem's first form, with 32 bits, exists only for its name. */
int cuDeviceTotalMem(unsigned *bytes, int device)
{
	size_t size;
	int bad = cuDeviceTotalMem_v2(&size, device);

	if (!bad)
		*bytes = size > UINT32_MAX ? UINT32_MAX : (unsigned)size;
	return bad;
}
