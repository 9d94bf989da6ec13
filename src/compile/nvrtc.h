/* NVRTC: NVIDIA's compiler from CUDA C to PTX as a library, loaded at run time. It compiles foreign
 * sources: in workers only.
 *
 * Source: NVRTC's documentation, nvrtc.h of CUDA 11.2 to 13.0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum { NVRTC_MOST_ARCHS = 64, NVRTC_MOST_LOG = 64 << 20, NVRTC_MOST_PTX = 1 << 30 };

/* X(name, (parameters)): each returns nvrtcResult as an int, and exists since CUDA 11.2. A program
 * is an opaque pointer. */
#define NVRTC_FUNCTIONS(X)                                                                         \
	X(nvrtcVersion, (int *ret_major, int *ret_minor))                                              \
	X(nvrtcCreateProgram,                                                                          \
	  (void **ret_program, const char *source, const char *name, int header_count,                 \
	   const char *const *headers, const char *const *header_names))                               \
	X(nvrtcDestroyProgram, (void **program))                                                       \
	X(nvrtcCompileProgram, (void *program, int option_count, const char *const *options))          \
	X(nvrtcGetPTXSize, (void *program, size_t *ret_size))                                          \
	X(nvrtcGetPTX, (void *program, char *ptx))                                                     \
	X(nvrtcGetProgramLogSize, (void *program, size_t *ret_size))                                   \
	X(nvrtcGetProgramLog, (void *program, char *log))                                              \
	X(nvrtcGetNumSupportedArchs, (int *ret_count))                                                 \
	X(nvrtcGetSupportedArchs, (int *ret_archs))

struct nvrtc {
	struct os_library *library;
	const char *(*nvrtcGetErrorString)(int result);
#define NVRTC_MEMBER(name, parameters) int(*name) parameters;
	NVRTC_FUNCTIONS(NVRTC_MEMBER)
#undef NVRTC_MEMBER
	unsigned major, minor;
	uint16_t archs[NVRTC_MOST_ARCHS]; /* capabilities that it compiles for (86), ascending */
	size_t arch_count;
};

/* Loads the library at `path`; "" tries the names under which the system's linker may find one
 * (libnvrtc.so.13 …). JW_ERR_UNSUPPORTED if it is too old to report its architectures. It is never
 * unloaded. */
int nvrtc_open(struct jw_error *err, const char *path, struct nvrtc *ret_nvrtc);

struct nvrtc_source {
	const char *text; /* NUL-terminated */
	const char *name; /* appears in messages, in `.file` lines and in some symbols */
	const char *const *options;
	size_t option_count;
};

/* Compiles one source. 0: *ret_result is NVRTC's result (0: `ptx` holds the text without its NUL),
 * and `log` its messages, which may be warnings. -1: it was not tried. */
int nvrtc_compile(struct jw_error *err, const struct nvrtc *nvrtc,
				  const struct nvrtc_source *source, int *ret_result, struct buf *log,
				  struct buf *ptx);

/* "NVRTC_ERROR_COMPILATION" */
const char *nvrtc_error_name(const struct nvrtc *nvrtc, int result);
