/* “jitwarm which --constraints”: a file of constraints for pip and uv. */
#pragma once

#include <jitwarm/constraints.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/gpu_targets.h"

/* The subject of such a file. */
struct constraints_about {
	const struct cli *cli;
	const struct gpu_targets *gpus;
	const char *platform, *python; /* “Linux x86-64”; “3.11” or NULL */
	const char *path;              /* of -o; NULL for standard output */
	bool for_uv;                   /* lines of pyproject.toml */
};

/* Writes the file, in ASCII and in English whatever the language is: older releases of pip read it
 * in the encoding of the locale. */
void constraints_write(struct buf *text, const struct constraints_about *about,
					   const struct jw_constraints *constraints);

/* Refuses options of such a file without --constraints, and options with which it means nothing. */
int constraints_check_options(struct jw_error *err, const struct cli *cli);
/* Prints the file, or writes it to -o, for these GPUs. */
int constraints_run(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus);

#define CONSTRAINTS_OPTIONS                                                                        \
	CLI_FLAG("constraints",                                                                        \
			 "Print a constraints file, with which pip and uv take only releases that run"),       \
		CLI_VALUE("output", "FILE", "With --constraints: write it to this file instead",           \
				  .letter = 'o', .names = NAMES_OUTPUT, .rare = true),                             \
		CLI_VALUE("index", "LABEL",                                                                \
				  "With --constraints: for the builds of PyTorch's index with this label (cu126) " \
				  "instead of PyPI's",                                                             \
				  .rare = true),                                                                   \
		CLI_VALUE("format", "FORMAT",                                                              \
				  "With --constraints: for pip and uv, or as lines of a pyproject.toml for uv",    \
				  .choices = "pip|uv", .rare = true)
