#include "prime/check_largest.h"

#include <string.h>

#include "base/mem.h"

void check_largest_free(struct jw_check_result *result)
{
	for (size_t i = 0; i < result->largest_count; i++) {
		mem_free(result->largest[i].path);
		mem_free(result->largest[i].member);
	}
	mem_free(result->largest);
	result->largest = NULL;
	result->largest_count = 0;
}

/* Inserts a module into a list of at most `most`, the largest first; of equal ones the order of the
 * plan counts. Returns the new number. */
static size_t keep_largest(const struct plan_module **list, size_t count, size_t most,
						   const struct plan_module *module)
{
	size_t at = count;

	while (at && list[at - 1]->payload_bytes < module->payload_bytes)
		at--;
	if (at == most)
		return count;
	count += count < most;
	memmove(list + at + 1, list + at, (count - at - 1) * sizeof(struct plan_module *));
	list[at] = module;
	return count;
}

int check_largest(struct jw_error *err, const struct plan *plan, struct jw_check_result *result)
{
	const struct plan_module *list[JW_CHECK_LARGEST];
	size_t count = 0;

	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state != PLAN_LEFT_OUT)
			count = keep_largest(list, count, JW_CHECK_LARGEST, &plan->modules[i]);
	result->largest = mem_array(err, count, sizeof *result->largest);
	if (!result->largest)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct plan_file *file = &plan->files[list[i]->file];
		struct jw_check_module *module = &result->largest[result->largest_count++];

		*module =
			(struct jw_check_module){.path = mem_string(err, file->path),
									 .member = file->member ? mem_string(err, file->member) : NULL,
									 .offset = list[i]->entry_offset,
									 .target = plan->targets[list[i]->target].device,
									 .payload_bytes = list[i]->payload_bytes,
									 .seconds = list[i]->cost_ms / 1000,
									 .warm = list[i]->state == PLAN_WARM};
		if (!module->path || (file->member && !module->member))
			return -1;
	}
	return 0;
}
