/* GPUs by product name, and by PCI device id (data/gpus.csv). */
#pragma once

#include <jitwarm/target.h>

/* False if the device id (of NVIDIA) is unknown. */
bool gpu_of_pci_device(uint32_t device, struct jw_target *ret_target);
