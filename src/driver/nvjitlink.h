/* nvJitLink: NVIDIA's linker of relocatable device code as a library, loaded at run time. It reads
 * foreign objects, so it is used only in workers. Source: nvJitLink's documentation, nvJitLink.h of
 * CUDA 12.0 to 13.0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"

enum { NVJITLINK_MAX_LOG = 1 << 20, NVJITLINK_FIRST_CUDA = 12000 };

/* X(name, (parameters)). Each function returns nvJitLinkResult as an int. A handle is an opaque
 * pointer. The symbols end in the version that the caller was made for (__nvJitLinkCreate_12_4): a
 * library has those of its own version and of the earlier ones of the same major version. */
#define NVJITLINK_FUNCTIONS(X)                                                                     \
	X(Create, (void **ret_handle, uint32_t option_count, const char *const *options))              \
	X(Destroy, (void **handle))                                                                    \
	X(AddData, (void *handle, int kind, const void *data, size_t size, const char *name))          \
	X(Complete, (void *handle))                                                                    \
	X(GetLinkedCubinSize, (void *handle, size_t *ret_size))                                        \
	X(GetLinkedCubin, (void *handle, void *cubin))                                                 \
	X(GetErrorLogSize, (void *handle, size_t *ret_size))                                           \
	X(GetErrorLog, (void *handle, char *log))

struct nvjitlink {
	struct os_library *library;
#define NVJITLINK_MEMBER(name, parameters) int(*name) parameters;
	NVJITLINK_FUNCTIONS(NVJITLINK_MEMBER)
#undef NVJITLINK_MEMBER
	uint32_t cuda; /* 1000 * major + 10 * minor */
};

/* Finds the CUDA version (1000 * major + 10 * minor) of the file's symbols, without loading it.
 * JW_ERR_UNSUPPORTED if it has none. */
int nvjitlink_version(struct jw_error *err, const char *path, uint32_t *ret_cuda);
/* Loads the library at `path`, which is never unloaded. JW_ERR_UNSUPPORTED if it is not
 * nvJitLink. */
int nvjitlink_open(struct jw_error *err, const char *path, struct nvjitlink *ret_nvjitlink);

struct nvjitlink_input {
	struct jw_target target;
	const uint8_t *containers; /* one after the other */
	size_t size;
};

/* Links the containers in their order. Returns 0 with nvJitLink's result in *ret_result (0: `cubin`
 * has the linked code) and its error messages in `log`; -1 if linking was not tried. */
int nvjitlink_link(struct jw_error *err, const struct nvjitlink *nvjitlink,
				   const struct nvjitlink_input *input, int *ret_result, struct buf *log,
				   struct buf *cubin);
