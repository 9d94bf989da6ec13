/* NVIDIA's display devices in Linux' list. Source: Documentation/ABI/testing/sysfs-bus-pci. */
#include "os/pci.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/posix/posix.h"

static const char devices_folder[] = "/sys/bus/pci/devices";

/* The number in a file such as .../vendor ("0x10de"). */
static bool attribute(const char *device, const char *name, unsigned long *ret_value)
{
	char *path = mem_printf(NULL, "%s/%s/%s", devices_folder, device, name);
	struct buf text = {0};
	bool found = path && !os_read_file(NULL, path, 64, &text);

	if (found)
		*ret_value = strtoul(buf_text(&text), NULL, 16);
	buf_free(&text);
	mem_free(path);
	return found;
}

/* Base class 03: display controller; 0302 is a "3D controller", as in data-centre cards and some
 * laptops. */
static bool is_nvidia_display(const char *device)
{
	unsigned long vendor = 0, class = 0;

	return attribute(device, "vendor", &vendor) && vendor == OS_PCI_VENDOR_NVIDIA &&
		   attribute(device, "class", &class) && class >> 16 == 0x03;
}

int os_pci_enumerate(struct jw_error *err, struct os_pci_device *devices, size_t most,
					 size_t *ret_count)
{
	struct os_names names = {0};
	struct os_stat stat;
	size_t count = 0;

	if (os_stat(NULL, devices_folder, &stat)) {
		*ret_count = 0;
		return 0;
	}
	if (os_list(err, devices_folder, &names))
		return -1;
	for (size_t i = 0; i < names.count && count < most; i++) {
		unsigned long device = 0;

		if (!is_nvidia_display(names.items[i]) || !attribute(names.items[i], "device", &device))
			continue;
		devices[count] =
			(struct os_pci_device){.vendor = OS_PCI_VENDOR_NVIDIA, .device = (uint32_t)device};
		if (strlen(names.items[i]) < sizeof devices[count].bus)
			memcpy(devices[count].bus, names.items[i], strlen(names.items[i]) + 1);
		count++;
	}
	os_names_free(&names);
	*ret_count = count;
	return 0;
}

/* Source: Documentation/ABI/testing/sysfs-devices-power. */
bool os_pci_sleeps(const struct os_pci_device *device)
{
	struct buf text = {0};
	bool sleeps =
		device->bus[0] &&
		posix_kernel_text(&text, "%s/%s/power/runtime_status", devices_folder, device->bus) &&
		!strncmp(buf_text(&text), "suspended", strlen("suspended"));

	buf_free(&text);
	return sleeps;
}
