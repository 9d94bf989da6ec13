#include "run/remote_plan.h"

#include "base/mem.h"
#include "os/file.h"
#include "run/prime_result.h"

/* A compressed entry is smaller than the entry, whose size is a prediction. */
enum { PACK_TIMES = 8, PACK_SPARE = 16 << 20 };
static const uint64_t MOST_PLAN_PACK = UINT64_C(1) << 36;

uint64_t remote_most_bytes(const struct plan_module *module)
{
	return PACK_SPARE + PACK_TIMES * (module->key_bytes + module->entry_bytes);
}

/* The entries' names; *ret_warm of them are in the cache. 0: the plan is for several architectures,
 * or a budget leaves out a part of it. */
static size_t list_names(const struct plan *plan, uint64_t *names, size_t *ret_warm)
{
	size_t count = 0, warm = 0;

	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (!module->key || module->state == PLAN_LEFT_OUT)
			continue;
		if (module->state == PLAN_OVER_BUDGET || module->target != plan->modules[0].target)
			return 0;
		names[count++] = module->key;
		warm += module->state == PLAN_WARM;
	}
	*ret_warm = warm;
	return count;
}

void remote_plan_name(struct run *run)
{
	const struct plan *plan = run->setup->plan;
	struct remote *remote = &run->remote;
	uint64_t *names = mem_array(NULL, plan->module_count, sizeof *names), bytes = PACK_SPARE;
	size_t warm = 0;
	const size_t count = names ? list_names(plan, names, &warm) : 0;
	char *path = os_join(NULL, remote->folder, OBJECT_PLAN_NAMES);

	for (size_t i = 0; i < plan->module_count && bytes < MOST_PLAN_PACK; i++)
		bytes += remote_most_bytes(&plan->modules[i]) - PACK_SPARE;
	if (path && warm < run->queue.count && count &&
		!os_write_atomic(NULL, path, names, count * sizeof *names)) {
		remote->plan_bytes = bytes < MOST_PLAN_PACK ? bytes : MOST_PLAN_PACK;
		remote->plan_first = true;
		remote->plan_to_put = run->setup->share->back;
	}
	mem_free(path);
	mem_free(names);
}

bool remote_plan_is_due(const struct run *run)
{
	const struct remote *remote = &run->remote;

	return remote->plan_to_put && !run->result->out_of_time && !remote->to_put &&
		   !remote->putting && !run->later.count && job_queue_peek(&run->queue) == QUEUE_EMPTY &&
		   !job_queue_has_suspects(&run->queue) && !run_busy_workers(run);
}

void remote_plan_answered(struct run *run, const struct object_answer *answer)
{
	if (*answer->why)
		(void)prime_result_add_note(
			NULL, run->result, "the pack of the whole plan was not put into the shared place: %s",
			answer->why);
}
