/* The options of prime for CUDA C sources among its operands, and the result for each source. */
#pragma once

#include <jitwarm/prime.h>

#include "cli/command.h"

struct nvrtc_options {
	struct jw_nvrtc_options how;
	char *text;         /* the options, each ending in a NUL */
	const char **words; /* they point into it */
	size_t capacity;
};

/* --nvrtc, --nvrtc-options, --nvrtc-name */
#define SOURCES_OPTIONS                                                                            \
	CLI_VALUE("nvrtc-options", "OPTIONS",                                                          \
			  "Compile *.cu by NVRTC with these options, as the program does"),                    \
		CLI_VALUE("nvrtc", "FILE|PACKAGE",                                                         \
				  "The NVRTC of the program: a library, a toolkit, or a package that has or "      \
				  "requires one",                                                                  \
				  .names = NAMES_FILE_OR_NAME),                                                    \
		CLI_VALUE("nvrtc-name", "NAME",                                                            \
				  "The program's name for the source; without it the file's name")

/* On failure it frees nothing: always call nvrtc_options_free. */
int nvrtc_options_read(struct jw_error *err, const struct cli *cli,
					   struct nvrtc_options *ret_options);
/* Prints the results; a failure changes cli->status. */
void nvrtc_options_print(struct cli *cli, const struct jw_prime_source *source);
void nvrtc_options_free(struct nvrtc_options *options);
