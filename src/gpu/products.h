/* GPUs by product name, and by PCI device id (data/gpus.csv). */
#pragma once

#include <jitwarm/target.h>

/* The GPUs of a name, each capability once ("gtx 750" has two); words such as GeForce and Laptop,
 * and memory sizes, are ignored. Returns their number, 0 if the name is unknown. */
size_t gpu_named(const char *name, struct jw_target *targets, size_t most);
/* The most similar known name, NULL if none is similar. */
const char *gpu_nearest_name(const char *name);
/* False if the device id (of NVIDIA) is unknown. */
bool gpu_of_pci_device(uint32_t device, struct jw_target *ret_target);
