#include "os/platform.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/env.h"

/* The test beds' replacement of the system's list of PCI devices: JITWARM_PCI_DEVICES. */

static bool parse_one(const char *text, size_t length, struct os_pci_device *ret_device)
{
	char copy[64];
	unsigned vendor, device;
	int used = 0;

	if (length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	/* NOLINTNEXTLINE(cert-err34-c): four hex digits at most cannot overflow */
	if (sscanf(copy, "%4x:%4x%n", &vendor, &device, &used) != 2 || used == 0)
		return false;
	*ret_device = (struct os_pci_device){.vendor = vendor, .device = device};
	if (copy[used] == '@' && strlen(copy + used + 1) < sizeof ret_device->bus)
		memcpy(ret_device->bus, copy + used + 1, strlen(copy + used + 1) + 1);
	else if (copy[used])
		return false;
	return true;
}

int os_pci_parse(struct jw_error *err, const char *list, struct os_pci_device *devices, size_t most,
				 size_t *ret_count)
{
	size_t count = 0;

	while (*list && count < most) {
		size_t length = strcspn(list, ",");

		if (length && !parse_one(list, length, &devices[count++]))
			return error_set(err, JW_ERR_USAGE, "JITWARM_PCI_DEVICES: not a device: %.*s",
							 (int)length, list);
		list += length + (list[length] == ',');
	}
	*ret_count = count;
	return 0;
}

int os_pci_gpus(struct jw_error *err, struct os_pci_device *devices, size_t most, size_t *ret_count)
{
	char *list;
	int result;

	if (os_env_read(err, "JITWARM_PCI_DEVICES", &list))
		return -1;
	if (list)
		result = os_pci_parse(err, list, devices, most, ret_count);
	else
		result = os_pci_enumerate(err, devices, most, ret_count);
	mem_free(list);
	return result;
}
