/* --index: a wheel of the package index, for the time in which a command examines it. */
#pragma once

#include <stdbool.h>

#include <jitwarm/find.h>
#include <jitwarm/scan.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/gpu_targets.h"
#include "cli/progress.h"

/* The result of --index; `wheel` lives until jw_index_close. */
struct index_wheel {
	struct jw_index *index;
	const struct jw_index_wheel *wheel;
	struct fetching fetching;
	char python[JW_PYTHON_VERSION]; /* that of --python */
};

/* Gets the wheel of the only operand, NAME or NAME==VERSION, for --platform, or else the platform
 * of these GPUs, and for --python, and prints which one it is. Without --index the result is zeros.
 * From here on Ctrl-C asks to end. */
int index_wheel_get(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
					struct index_wheel *asked);
/* Opens only the index, for many packages. `asked` must outlive it. */
int index_wheel_open(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
					 struct index_wheel *asked);
/* Reads a version of Python as people write it: 3.11, 3.11.7, python3.11, cp311. JW_ERR_USAGE. */
int index_wheel_python(struct jw_error *err, const char *text, char version[JW_PYTHON_VERSION]);
/* Removes the wheel's folder from a text, in place; returns the text. `wheel` may be NULL. */
char *index_wheel_hide_folder(const struct jw_index_wheel *wheel, char *text);

/* The options, for tables of commands. */
#define INDEX_OPTIONS                                                                              \
	CLI_FLAG("index", "Download the wheel of NAME or NAME==VERSION from the package index with "   \
					  "pip, use it instead of an installed package, and delete it"),               \
		CLI_VALUE("platform", "NAME", "With --index: download the wheel for this platform",        \
				  .choices = "linux|linux-aarch64|windows", .rare = true),                         \
		CLI_VALUE("python", "VERSION",                                                             \
				  "With --index: download the wheel for this version of Python (3.11) instead of " \
				  "the active version",                                                            \
				  .rare = true)
