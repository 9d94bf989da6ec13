#include "driver/targets.h"

#include "code/target_names.h"
#include "os/platform.h"

bool targets_unfit_driver(struct jw_error *why, const struct jw_driver *driver)
{
	enum { MAX_GPUS = 64 };
	struct os_pci_device devices[MAX_GPUS];
	struct jw_target target;
	size_t count;

	if (os_pci_gpus(NULL, devices, MAX_GPUS, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!gpu_of_pci_device(devices[i].device, &target) ||
			!jw_driver_supports(why, driver, target))
			return false;
	return count > 0;
}

size_t jw_system_targets(const struct jw_system *system, struct jw_target *targets, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < system->gpu_count; i++)
		count = jw_target_add(targets, count, most, system->gpus[i].target);
	return count;
}

size_t targets_wanted(const struct jw_system *system, const struct jw_target *named,
					  size_t named_count, struct jw_target *ret_targets, size_t most)
{
	size_t count = 0;

	if (!named_count)
		return jw_system_targets(system, ret_targets, most);
	for (size_t i = 0; i < named_count; i++)
		count = jw_target_add(ret_targets, count, most, named[i]);
	return count;
}
