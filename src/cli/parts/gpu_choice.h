/* Which GPUs a process with other files sees: what its container was given, and what it chose. */
#pragma once

#include "base/error.h"

/* Sets this process's choice of GPUs (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER) to that of the
 * other one. Its variables are hostile: only what has the form of such a choice is taken. */
int gpu_choice_take(struct jw_error *err, int pid);
