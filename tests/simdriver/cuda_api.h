/* The simulated driver's entry points, as cuda.h declares them, with plain types. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct context;
struct module;
struct function;
struct link;

#define API(...) SIM_EXPORT int __VA_ARGS__

/* api_device.c */
API(cuInit(unsigned flags));
API(cuDriverGetVersion(int *version));
API(cuDeviceGetCount(int *count));
API(cuDeviceGet(int *device, int ordinal));
API(cuDeviceGetName(char *name, int size, int device));
API(cuDeviceGetAttribute(int *value, int attribute, int device));
API(cuDeviceGetUuid(void *uuid, int device));
API(cuDeviceGetUuid_v2(void *uuid, int device));
API(cuDeviceTotalMem(unsigned *bytes, int device));
API(cuDeviceTotalMem_v2(size_t *bytes, int device));
API(cuDeviceGetPCIBusId(char *id, int size, int device));
API(cuDeviceComputeCapability(int *major, int *minor, int device));
API(cuGetErrorName(int error, const char **text));
API(cuGetErrorString(int error, const char **text));

/* api_context.c */
API(cuDevicePrimaryCtxRetain(struct context **context, int device));
API(cuDevicePrimaryCtxRelease(int device));
API(cuDevicePrimaryCtxRelease_v2(int device));
API(cuCtxCreate_v2(struct context **context, unsigned flags, int device));
API(cuCtxDestroy_v2(struct context *context));
API(cuCtxSetCurrent(struct context *context));
API(cuCtxGetCurrent(struct context **context));
API(cuCtxGetDevice(int *device));
API(cuCtxSynchronize(void));
API(cuMemGetInfo_v2(size_t *available, size_t *total));

/* api_module.c */
API(cuModuleLoadData(struct module **module, const void *image));
API(cuModuleLoadDataEx(struct module **module, const void *image, unsigned count, int *options,
					   void **values));
API(cuModuleLoadFatBinary(struct module **module, const void *image));
API(cuModuleUnload(struct module *module));
API(cuModuleGetFunction(struct function **function, struct module *module, const char *name));
API(cuLibraryLoadData(struct module **library, const void *image, int *jit_options,
					  void **jit_values, unsigned jit_count, int *options, void **values,
					  unsigned count));
API(cuLibraryUnload(struct module *library));

/* api_link.c */
API(cuLinkCreate_v2(unsigned count, int *options, void **values, struct link **link));
API(cuLinkAddData_v2(struct link *link, int type, void *data, size_t size, const char *name,
					 unsigned count, int *options, void **values));
API(cuLinkComplete(struct link *link, void **cubin, size_t *size));
API(cuLinkDestroy(struct link *link));

/* api_proc.c */
API(cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags));
API(cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
						int *status));
