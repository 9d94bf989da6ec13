/* The part of the CUDA Driver API that jitwarm uses, loaded at run time, in workers only.
 *
 * Types and numbers: CUDA Driver API documentation and cuda.h. Handles are opaque pointers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_IMAGE = 200,
};

/* CUdevice_attribute */
enum {
	CUDA_ATTRIBUTE_COMPUTE_MODE = 20,
	CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
	CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,
};

/* CUjit_option: only the log options do not change a module's key (measured on 535, 550, 555). */
enum {
	CUDA_JIT_INFO_LOG_BUFFER = 3,
	CUDA_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
	CUDA_JIT_ERROR_LOG_BUFFER = 5,
	CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

enum { CUDA_JIT_INPUT_FATBINARY = 2 }; /* CUjitInputType */

/* X(name, (parameters)). Each function returns CUresult as an int. */
#define CUDA_REQUIRED(X)                                                                           \
	X(cuInit, (unsigned flags))                                                                    \
	X(cuDriverGetVersion, (int *ret_version))                                                      \
	X(cuDeviceGetCount, (int *ret_count))                                                          \
	X(cuDeviceGet, (int *ret_device, int ordinal))                                                 \
	X(cuDeviceGetName, (char *ret_name, int size, int device))                                     \
	X(cuDeviceGetAttribute, (int *ret_value, int attribute, int device))                           \
	X(cuDeviceGetPCIBusId, (char *ret_bus, int size, int device))                                  \
	X(cuDeviceTotalMem_v2, (size_t * ret_bytes, int device))                                       \
	X(cuDevicePrimaryCtxRetain, (void **ret_context, int device))                                  \
	X(cuCtxSetCurrent, (void *context))                                                            \
	X(cuCtxSynchronize, (void))                                                                    \
	X(cuModuleLoadDataEx,                                                                          \
	  (void **ret_module, const void *image, unsigned count, int *options, void **values))         \
	X(cuModuleUnload, (void *module))                                                              \
	X(cuGetErrorName, (int result, const char **ret_name))

#define CUDA_OPTIONAL(X)                                                                           \
	X(cuDeviceGetUuid, (uint8_t ret_uuid[16], int device))                                         \
	X(cuDeviceGetUuid_v2, (uint8_t ret_uuid[16], int device))                                      \
	X(cuMemGetInfo_v2, (size_t * ret_free, size_t * ret_total))                                    \
	X(cuLinkCreate_v2, (unsigned count, int *options, void **values, void **ret_state))            \
	X(cuLinkAddData_v2, (void *state, int type, void *data, size_t size, const char *name,         \
						 unsigned count, int *options, void **values))                             \
	X(cuLinkComplete, (void *state, void **ret_cubin, size_t *ret_size))                           \
	X(cuLinkDestroy, (void *state))

struct cuda {
	struct os_library *library;
#define CUDA_MEMBER(name, parameters) int(*name) parameters;
	CUDA_REQUIRED(CUDA_MEMBER)
	CUDA_OPTIONAL(CUDA_MEMBER) /* NULL if the driver has no such function */
#undef CUDA_MEMBER
};

/* Loads the driver's library (libcuda.so.1, nvcuda.dll) and its functions. It is never unloaded,
 * since the driver keeps threads. */
int cuda_open(struct jw_error *err, struct cuda *ret_cuda);

/* Returns "CUDA_ERROR_INVALID_PTX", or "error 218" if the driver has no name for the result. Valid
 * until the next call. */
const char *cuda_error_name(const struct cuda *cuda, int result);
