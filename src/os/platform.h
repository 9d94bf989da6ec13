/* Which system this is. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* "linux" or "windows". */
extern const char os_name[];
/* Whether this Linux runs inside Windows (WSL): its driver comes from Windows, and its cache
 * differs from that of Windows programs. */
bool os_is_wsl(void);
/* Whether the kernel's part of NVIDIA's driver shows a device file: WSL's GPU (dxg) and Jetson's
 * (nvmap) are no PCI devices, and some containers see no PCI bus (nvidiactl). */
bool os_has_gpu_file(void);
/* The release of the driver whose kernel part is loaded ("550.163.01"), which an update replaces at
 * the next boot only. Empty if there is none, or on Windows, where it is the library's; -1 where
 * memory is short. */
int os_running_driver(struct jw_error *err, char ret_release[32]);
