/* CUDA C sources that a program compiles with NVRTC while it runs: compiles them to the same PTX,
 * so that the modules can be primed.
 *
 * The text of a module determines its name in the driver's cache. It is the program's own text only
 * if NVRTC's version, the options, the name of the source and the source itself are the program's
 * own.
 *
 * Threads: a jw_nvrtc belongs to one thread at a time; several threads may each have their own. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/target.h>

struct jw_nvrtc_options {
	/* The name of an NVRTC, as for jw_find_nvrtc. NULL for that of the environment or toolkit, else
	 * the one that the system's linker finds. */
	const char *where;
	const char *const *options; /* options for the compiler, verbatim */
	size_t option_count;
	const char *name;          /* the program's name for the source; NULL for the file's own */
	struct jw_driver driver;   /* the driver that will compile the PTX; {0} if unknown */
	const char *state_dir;     /* jw_system.state_dir */
	const char *const *worker; /* as in jw_system_options; must outlive this NVRTC */
	struct jw_cancel cancel;   /* polled while a process compiles */
};

/* An NVRTC; its members are read-only. */
struct jw_nvrtc {
	char library[1024]; /* the file that was loaded */
	unsigned major, minor;
	struct jw_target archs[64]; /* supported architectures, ascending */
	size_t arch_count;
	struct jw_nvrtc_inner *inner;
};

/* Asks the library, in a separate process, for its version and architectures. The options' lists
 * and names (except `where`) must stay in place until jw_nvrtc_close; the results' files exist
 * until then. */
int jw_nvrtc_open(struct jw_error *err, const struct jw_nvrtc_options *options,
				  struct jw_nvrtc **ret_nvrtc);
void jw_nvrtc_close(struct jw_nvrtc *nvrtc);

struct jw_nvrtc_result {
	char *ptx;                     /* the file with the PTX; NULL if the source was not compiled */
	char arch[JW_TARGET_TEXT];     /* the architecture of its PTX: "compute_86" */
	uint16_t isa_major, isa_minor; /* the ISA of the PTX */
	char *log;                     /* the compiler's own log, or "" */
};

/* Compiles one source for a GPU, in a separate process: --gpu-architecture is the newest that NVRTC
 * supports and the GPU runs, unless the options name one. -1 with one line that names the source;
 * if the compiler refused it, the line is the first error, and ret_result->log is the compiler's
 * log. JW_ERR_UNSUPPORTED for an architecture that this NVRTC lacks, or PTX that is too new for the
 * driver. The caller frees *ret_result in both cases. */
int jw_nvrtc_compile(struct jw_error *err, struct jw_nvrtc *nvrtc, const char *source,
					 struct jw_target device, struct jw_nvrtc_result *ret_result);
void jw_nvrtc_result_free(struct jw_nvrtc_result *result);
