/* Code and the GPUs that it runs on, by capability only (release.h covers what a driver compiles).
 *
 * Source: CUDA C++ Programming Guide, "Compute Capabilities" and "Family-Specific Features"; CUDA
 * Compatibility guide; docs/compat.md. */
#pragma once

#include <stdbool.h>

#include <jitwarm/target.h>

enum gpu_fit {
	GPU_FIT_NONE,       /* does not run there */
	GPU_FIT_COMPATIBLE, /* made for another capability, runs there */
	GPU_FIT_EXACT,      /* made for this capability */
};

/* Whether a GPU has this number or a future one may have it. Drivers ignore code for other numbers
 * (460 to 555). */
bool gpu_is_architecture(uint16_t sm);

/* The CUDA version of the first drivers that run it; 0: older or newer than known. */
uint32_t gpu_first_cuda(struct jw_target target);

/* Whether it is a GPU of Jetson or DRIVE, which have their own drivers. */
bool gpu_is_tegra(uint16_t sm);

/* How a cubin for `code` fits a device. Machine code runs on the same and higher minor versions of
 * its major version, on desktop and server GPUs only. Tegra's code does not run elsewhere, nor
 * other code on Tegra. 'a' runs only on its own capability, 'f' on its family. */
enum gpu_fit gpu_sass_fit(struct jw_target code, struct jw_target device);

/* Whether PTX for `code` may be compiled for a device: plain PTX for the same and every higher
 * capability, 'a' only for its own, 'f' for its family. */
bool gpu_ptx_fits(struct jw_target code, struct jw_target device);

/* Whether code for `code` is for this capability or an older one, whatever its suffix. If it cannot
 * be used on the device nevertheless, a property of the code is the reason. */
bool gpu_not_newer(struct jw_target code, struct jw_target device);
