/* GPUs by product name, and by PCI device id (data/gpus.csv), and the drivers that run them. */
#pragma once

#include <jitwarm/target.h>

/* False if the device id (of NVIDIA) is unknown. */
bool gpu_of_pci_device(uint32_t device, struct jw_target *ret_target);

/* Whether it is a GPU of Jetson or DRIVE, which have their own drivers. */
bool gpu_is_tegra(uint16_t sm);

/* The CUDA version of the first drivers that run it; 0: older or newer than known. */
uint32_t gpu_first_cuda(struct jw_target target);

/* The CUDA version of the last drivers that run it; 0: newer ones do, too. */
uint32_t gpu_last_cuda(struct jw_target target);

/* Whether the compilers of a CUDA version make code for it: negative, if they are too old for it,
 * positive, if they are too new. */
int gpu_compiler_fits(uint32_t cuda, struct jw_target target);
/* The first and the last CUDA version whose compilers do; 0: older than known, and the newest. */
uint32_t gpu_first_compiler(struct jw_target target), gpu_last_compiler(struct jw_target target);

/* The architecture for which such a driver compiles on a device, including the features that no
 * other GPU has, which the key does not show ("sm_90a" on 9.0; measured there, assumed from 10.0
 * on). CUDA 11.8 has "sm_90" alone. `cuda` 0: a newer driver. */
struct jw_target gpu_jit_target(struct jw_target device, uint32_t cuda);
