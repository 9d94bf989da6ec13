/* Code and the GPUs that it runs on, by capability only (release.h covers what a driver compiles).
 *
 * Source: CUDA C++ Programming Guide, "Compute Capabilities" and "Family-Specific Features"; CUDA
 * Compatibility guide; docs/internals/compat.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/target.h>

enum gpu_fit {
	GPU_FIT_NONE,       /* does not run on the device */
	GPU_FIT_COMPATIBLE, /* made for another capability, but runs */
	GPU_FIT_EXACT,      /* made for this capability */
};

/* Returns whether a GPU has this number, or a future one may have it. Drivers (460 to 555) ignore
 * other numbers. */
bool gpu_is_architecture(uint16_t sm);

/* Returns how a cubin for `code` fits a device. Machine code runs on the same and higher minor
 * versions of its major version, on desktop and server GPUs only. Tegra's code does not run
 * elsewhere, nor other code on Tegra. 'a' runs only on its own capability, 'f' on its family. */
enum gpu_fit gpu_sass_fit(struct jw_target code, struct jw_target device);

/* Returns whether PTX for `code` may be compiled for a device: plain PTX for the same and every
 * higher capability, 'a' only for its own, 'f' for its family. */
bool gpu_ptx_fits(struct jw_target code, struct jw_target device);

/* Returns whether code for `code` is for this capability or an older one, whatever its suffix. If
 * the device cannot use it nevertheless, the reason is a property of the code. */
bool gpu_not_newer(struct jw_target code, struct jw_target device);

/* The drivers that load machine code. A driver that does not load the code that it finds for a GPU
 * tries nothing else: the program fails.
 * Measured with each ptxas of CUDA 11.7 to 13.5 on 460.106.00, 470.256.02, 525.147.05, 535.309.01,
 * 550.163.01 and 555.58.02, that of 13.0 also on 580.159.04 (docs/internals/driver-cache.md,
 * "Which drivers load machine code" and "On a real GPU"). */
struct gpu_code_range {
	struct jw_driver from; /* the first driver, by its branch */
	struct jw_driver to;   /* the newest driver that was measured; zeros if none was */
};

/* Returns the range for a cubin. `code_cuda` is the CUDA version of the first driver that
 * understands its ABI (cubin_cuda; 0: all measured ones). */
struct gpu_code_range gpu_code_range(uint32_t code_cuda, struct jw_target gpu);
/* Returns whether a driver is older than the first one that loads the code. Numbers that are
 * unknown (zeros) are not compared. */
bool gpu_code_is_newer(const struct jw_driver *from, const struct jw_driver *driver);
/* Returns the newer one of two first drivers; zeros mean that any driver is new enough. */
struct jw_driver gpu_newer_driver(struct jw_driver a, struct jw_driver b);
