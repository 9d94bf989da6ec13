/* CUDA C sources among the operands of prime: compiled to PTX files, which are primed like others.
 */
#pragma once

#include <jitwarm/nvrtc.h>

#include "cli/command.h"

struct cuda_operands {
	struct jw_nvrtc *nvrtc; /* owns the files */
	char **ptx;
	size_t count, capacity;
	const char **others; /* the operands that are none, NULL at the end */
	size_t other_count;
	size_t asked; /* sources among the operands */
};

/* --nvrtc, --nvrtc-options, --nvrtc-name */
#define SOURCES_OPTIONS                                                                            \
	CLI_VALUE("nvrtc-options", "OPTIONS",                                                          \
			  "Compile *.cu by NVRTC with these options, as the program does"),                    \
		CLI_VALUE("nvrtc", "FILE|PACKAGE",                                                         \
				  "The NVRTC of the program: a library, a toolkit, or a package that has or "      \
				  "requires one"),                                                                 \
		CLI_VALUE("nvrtc-name", "NAME",                                                            \
				  "The program's name for the source; without it the file's name")

/* Separates sources from other operands. */
int cuda_operands_pick(struct jw_error *err, const struct cli *cli,
					   struct cuda_operands *ret_sources);
/* Compiles the sources for every architecture of cli->system. Failures are printed and change
 * cli->status; the rest is primed nevertheless. */
void cuda_operands_compile(struct cli *cli, struct cuda_operands *sources);
void cuda_operands_free(struct cuda_operands *sources);
