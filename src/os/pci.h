/* Between the common part of os_pci_gpus and each system's own. */
#ifndef JW_OS_PCI_H
#define JW_OS_PCI_H

#include "os/system.h"

enum { OS_PCI_VENDOR_NVIDIA = 0x10de };

/* The system's own list: NVIDIA's display devices (class 03xx). */
int os_pci_enumerate(struct jw_error *err, struct os_pci_device *devices, size_t most,
					 size_t *ret_count);
/* A list as in JITWARM_PCI_DEVICES. */
int os_pci_parse(struct jw_error *err, const char *list, struct os_pci_device *devices, size_t most,
				 size_t *ret_count);

#endif
