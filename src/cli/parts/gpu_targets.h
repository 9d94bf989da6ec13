/* The GPUs that a command is about: those named by --target, else those of this machine. */
#pragma once

#include <stddef.h>

#include <jitwarm/target.h>

#include "cli/options.h"

enum { GPUS_MOST = 32 };

struct gpu_targets {
	struct jw_target targets[GPUS_MOST]; /* each once */
	size_t count;
	struct jw_driver driver; /* zeros: one that reads everything */
};

/* --target (repeatable) and --driver. No --target: count is 0. */
int gpu_targets_read(struct jw_error *err, const struct options *options,
					 struct gpu_targets *ret_gpus);

/* Adds one, unless it is there already. JW_ERR_USAGE past GPUS_MOST. */
int gpu_targets_add(struct jw_error *err, struct gpu_targets *gpus, struct jw_target target);

/* --arch (repeatable), of code: sm_90a too. “other” where `ret_other` is not NULL. */
int gpu_targets_arch(struct jw_error *err, const struct options *options, struct gpu_targets *gpus,
					 bool *ret_other);

/* "sm_86 (RTX 30)"; returns `text`. */
#define GPUS_NAME 64
const char *gpu_targets_name(char text[GPUS_NAME], struct jw_target target);

/* The two options, for the tables of commands. */
#define GPUS_OPTIONS                                                                               \
	CLI_LIST("target", "SM",                                                                       \
			 "For a GPU of this compute capability (sm_86) instead of those of this machine; may " \
			 "be repeated"),                                                                       \
		CLI_VALUE("driver", "VERSION",                                                             \
				  "For this driver: a CUDA version (12.2) or a driver's (550.163.01)")
