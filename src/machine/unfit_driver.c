#include "machine/unfit_driver.h"

#include "gpu/products.h"
#include "os/pci.h"

bool unfit_driver(struct jw_error *why, const struct jw_driver *driver)
{
	enum { MOST_GPUS = 64 };
	struct os_pci_device devices[MOST_GPUS];
	struct jw_target target;
	size_t count;

	if (os_pci_gpus(NULL, devices, MOST_GPUS, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!gpu_of_pci_device(devices[i].device, &target) ||
			!jw_driver_supports(why, driver, target))
			return false;
	return count > 0;
}
