/* Room for workers: in the machine's memory and in that of its GPUs. */
#include "os/clock.h"
#include "os/memory.h"
#include "os/power.h"
#include "run/run_state.h"

static const uint64_t LOOK_EVERY_NS = 1000000000;

uint64_t run_job_bytes(const struct run *run, const struct run_job *job)
{
	return run->setup->plan->modules[job->module].memory_bytes;
}

/* The memory that a worker has, or will have before its jobs are done. */
static uint64_t bytes_of(const struct run *run, const struct slot *slot)
{
	uint64_t dearest = 0, need;

	if (!slot->child)
		return 0;
	for (size_t i = 0; i < slot->job_count; i++) {
		uint64_t bytes = run_job_bytes(run, &slot->jobs[i]);

		dearest = bytes > dearest ? bytes : dearest;
	}
	need = memory_budget_need(&run->memory, dearest);
	return slot->resident_bytes > need ? slot->resident_bytes : need;
}

bool run_has_room(const struct run *run, const struct slot *slot, const struct run_job *job)
{
	const uint64_t need = memory_budget_need(&run->memory, run_job_bytes(run, job));
	uint64_t others = 0;
	bool alone = true;

	for (unsigned i = 0; i < run->setup->workers; i++) {
		const struct slot *other = &run->slots[i];

		if (other == slot)
			continue;
		alone = alone && !other->job_count;
		others += bytes_of(run, other);
	}
	/* The only worker has to continue, or the run would never end. */
	if (alone)
		return true;
	return memory_budget_admits(&run->memory, others, need);
}

uint64_t run_gpu_spare(const struct run *run, const struct slot *slot, size_t device)
{
	uint64_t bit = UINT64_C(1) << device;

	for (unsigned i = 0; i < run->setup->workers; i++)
		if (&run->slots[i] != slot && run->slots[i].child && (run->slots[i].devices & bit))
			return (uint64_t)MEMORY_GPU_SPARE_MIB << 20;
	return 0;
}

/* The worker that began last loses least. */
static struct slot *choose_victim(struct run *run)
{
	struct slot *victim = NULL;

	for (unsigned i = 0; i < run->setup->workers; i++) {
		struct slot *slot = &run->slots[i];

		if (slot->job_count && slot->child && !slot->hung &&
			(!victim || slot->since_ns > victim->since_ns))
			victim = slot;
	}
	return victim;
}

static void look_at_power(struct run *run)
{
	bool before = run->on_battery;

	run->on_battery = run->setup->options->low_priority && os_on_battery();
	if (run->on_battery && !before)
		run_message(run, "the machine runs on its battery: waiting for the mains (--background)");
}

struct slot *run_look_at_machine(struct run *run)
{
	uint64_t now = os_monotonic_ns(), total, available;
	enum memory_verdict verdict;
	unsigned busy = 0;

	if (run->stopping || now - run->looked_ns < LOOK_EVERY_NS)
		return NULL;
	run->looked_ns = now;
	look_at_power(run);
	for (unsigned i = 0; i < run->setup->workers; i++) {
		struct slot *slot = &run->slots[i];

		slot->resident_bytes = slot->child ? os_process_resident(child_pid(slot->child)) : 0;
		busy += slot->job_count > 0;
	}
	if (!os_memory(&total, &available))
		return NULL;
	verdict = memory_budget_look(&run->memory, now, busy, os_memory_pressure(), total, available);
	if (verdict == MEMORY_AS_IT_IS)
		return NULL;
	if (!run->told_short)
		run_message(run, "memory is getting short: going on with fewer workers for a while");
	run->told_short = true;
	return verdict == MEMORY_AT_ONCE ? choose_victim(run) : NULL;
}
