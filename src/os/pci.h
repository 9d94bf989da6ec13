/* PCI display devices by NVIDIA, found without the driver (sysfs; on Windows the registry). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct os_pci_device {
	uint32_t vendor, device;
	char bus[32]; /* "0000:01:00.0", lower case; "" where unknown */
};
/* $JITWARM_PCI_DEVICES ("10de:2484@0000:01:00.0,...") replaces the system's list: the test beds set
 * it. Fills in at most `most` devices. */
int os_pci_gpus(struct jw_error *err, struct os_pci_device *devices, size_t most,
				size_t *ret_count);

/* Whether the system has put a device to sleep, as laptops do with a second GPU: who asks its
 * driver wakes it. False where the system does not tell (Windows). */
bool os_pci_sleeps(const struct os_pci_device *device);

/* Connects the common part with each system's own. */
enum { OS_PCI_VENDOR_NVIDIA = 0x10de };

/* The system's own list: NVIDIA's display devices (class 03xx). */
int os_pci_enumerate(struct jw_error *err, struct os_pci_device *devices, size_t most,
					 size_t *ret_count);
/* A list as in JITWARM_PCI_DEVICES. */
int os_pci_parse(struct jw_error *err, const char *list, struct os_pci_device *devices, size_t most,
				 size_t *ret_count);
