#include "prime/select_offsets.h"

#include "base/error.h"

static bool is_wanted(const struct plan_module *module, const uint64_t *offsets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (module->container_offset == offsets[i])
			return true;
	return false;
}

static bool is_there(const struct plan *plan, uint64_t offset)
{
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].container_offset == offset)
			return true;
	return false;
}

int select_offsets(struct jw_error *err, struct plan *plan, const uint64_t *offsets, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!is_there(plan, offsets[i]))
			return error_set(err, JW_ERR_NOT_FOUND,
							 "no module that these GPUs would compile begins at offset 0x%llx",
							 (unsigned long long)offsets[i]);
	for (size_t i = 0; i < plan->module_count; i++)
		if (is_wanted(&plan->modules[i], offsets, count))
			plan->modules[kept++] = plan->modules[i];
	plan->module_count = kept;
	return 0;
}
