/* GPUs by product name, and by PCI device id (data/gpus.csv), and the drivers that run them. */
#pragma once

#include <jitwarm/target.h>

/* Finds the GPU with NVIDIA's device id; false if the id is unknown. */
bool gpu_of_pci_device(uint32_t device, struct jw_target *ret_target);

/* Returns whether the number is that of a GPU of Jetson or DRIVE, which have their own drivers. */
bool gpu_is_tegra(uint16_t sm);

/* Returns the CUDA version of the first drivers that run a GPU; 0 if older or newer than known. */
uint32_t gpu_first_cuda(struct jw_target target);

/* Returns the CUDA version of the last drivers that run a GPU; 0 if the newest do, too. */
uint32_t gpu_last_cuda(struct jw_target target);

/* Returns 0 if the compilers of a CUDA version make code for the GPU, a negative number if they are
 * too old, a positive one if they are too new. */
int gpu_compiler_fits(uint32_t cuda, struct jw_target target);
/* Return the first and the last CUDA version whose compilers make code for a GPU; 0 stands for
 * older than known, and for the newest. */
uint32_t gpu_first_compiler(struct jw_target target), gpu_last_compiler(struct jw_target target);

/* Returns the architecture for which a driver of that CUDA version compiles on a device, including
 * the features that no other GPU has, which the key does not show ("sm_90a" on 9.0; measured there,
 * assumed from 10.0 on). CUDA 11.8 has only "sm_90". A `cuda` of 0 stands for a newer driver. */
struct jw_target gpu_jit_target(struct jw_target device, uint32_t cuda);
