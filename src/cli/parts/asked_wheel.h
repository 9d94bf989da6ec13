/* --index: a wheel of the package index, as long as a command looks at it. */
#pragma once

#include <stdbool.h>

#include <jitwarm/scan.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/parts/gpu_targets.h"
#include "cli/progress.h"

/* Gets the wheel of the one operand, NAME or NAME==VERSION, for `platform` (--platform) or, where
 * it is NULL, the platform of these GPUs, and says which one it is. Without --index: NULL. From
 * here on Ctrl-C asks to end. */
int asked_wheel_get(struct jw_error *err, struct cli *cli, const char *platform,
					const struct gpu_targets *gpus, struct jw_index_wheel **ret_wheel);
/* The index alone, for many packages (`listed`). `fetching` must outlive it. */
int asked_index_open(struct jw_error *err, const char *platform, const struct gpu_targets *gpus,
					 struct fetching *fetching, bool listed, struct jw_index **ret_index);
/* Takes its folder out of a text, in place; returns it. `wheel` may be NULL. */
char *asked_wheel_name(const struct jw_index_wheel *wheel, char *text);

/* The two options, for tables of commands; bake has the first alone. */
#define ASKED_WHEEL_OPTION                                                                         \
	CLI_FLAG(                                                                                      \
		"index",                                                                                   \
		"Ask the package index of pip's configuration instead of this machine: get the wheel "     \
		"of NAME or NAME==VERSION, look at it, and keep nothing")
#define ASKED_WHEEL_OPTIONS                                                                        \
	ASKED_WHEEL_OPTION,                                                                            \
		CLI_VALUE("platform", "NAME",                                                              \
				  "With --index: the wheel for this platform instead of the GPU's or this one's",  \
				  .choices = "linux|linux-arm64|windows", .rare = true)
