/* GPUs by what they are called, and by their PCI device id (data/gpus.csv). */
#pragma once

#include <jitwarm/target.h>

/* Those of a name, each capability once ("gtx 750" has two); words such as GeForce, Laptop and a
 * size of memory do not count. Returns how many, 0 where the name is not known. */
size_t gpu_named(const char *name, struct jw_target *targets, size_t most);
/* The known name that is nearest to this one, NULL where none is near. */
const char *gpu_nearest_name(const char *name);
/* False where the device id (of NVIDIA) is not known. */
bool gpu_of_pci_device(uint32_t device, struct jw_target *ret_target);
