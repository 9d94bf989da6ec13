#include "run/memory_budget.h"

#include "base/smaller.h"
#include "os/clock.h"
#include "os/platform.h"
#include "os/processes.h"
#include "run/run_state.h"

static const uint64_t SMALL_BYTES = UINT64_C(256) << 20;
/* Below SHORT_BYTES, workers become fewer; below DIRE_BYTES, one of them ends at once. The smaller
 * of a fixed size and a share of the machine counts. */
static const uint64_t SHORT_BYTES = UINT64_C(512) << 20, DIRE_BYTES = UINT64_C(192) << 20;
enum { SHORT_PART = 16, DIRE_PART = 40 };
/* Percent of the last ten seconds in which a process waited for memory: at the first the desktop
 * stutters, at the second it hardly responds. */
static const double SHORT_PRESSURE = 10, DIRE_PRESSURE = 40, CALM_PRESSURE = 1;
/* A change takes effect after a delay. */
static const uint64_t SETTLE_NS = 2000000000, CALM_NS = 10000000000;

void memory_budget_begin(struct memory_budget *memory, unsigned workers, uint64_t max_bytes,
						 uint64_t available_bytes)
{
	*memory = (struct memory_budget){
		.budget_bytes = max_bytes ? max_bytes : available_bytes / 4 * 3,
		.worker_bytes = MEMORY_WORKER_BYTES,
		.factor = 1,
		.allowed = workers,
		.most = workers,
	};
}

uint64_t memory_budget_need(const struct memory_budget *memory, uint64_t predicted_bytes)
{
	return memory->worker_bytes + (uint64_t)((double)predicted_bytes * memory->factor);
}

bool memory_budget_admits(const struct memory_budget *memory, uint64_t others_bytes,
						  uint64_t need_bytes)
{
	return !others_bytes || !memory->budget_bytes ||
		   (others_bytes <= memory->budget_bytes &&
			need_bytes <= memory->budget_bytes - others_bytes);
}

void memory_budget_measured(struct memory_budget *memory, uint64_t predicted_bytes,
							uint64_t peak_bytes)
{
	/* A worker's answer may contain any number. */
	const double most_factor = 8;
	const uint64_t most_bytes = UINT64_C(8) << 30;
	double factor;

	if (peak_bytes <= memory_budget_need(memory, predicted_bytes) || peak_bytes > most_bytes)
		return;
	/* A small module needs little of the compiler; the driver causes unexpected memory. */
	if (predicted_bytes < SMALL_BYTES) {
		memory->worker_bytes += peak_bytes - memory_budget_need(memory, predicted_bytes);
		return;
	}
	factor = (double)(peak_bytes - memory->worker_bytes) / (double)predicted_bytes;
	memory->factor = factor < most_factor ? factor : most_factor;
}

enum memory_verdict memory_budget_look(struct memory_budget *memory, uint64_t now_ns, unsigned busy,
									   double pressure, uint64_t total_bytes,
									   uint64_t available_bytes)
{
	bool dire =
		pressure >= DIRE_PRESSURE || available_bytes < smaller(DIRE_BYTES, total_bytes / DIRE_PART);
	bool is_short = dire || pressure >= SHORT_PRESSURE ||
					available_bytes < smaller(SHORT_BYTES, total_bytes / SHORT_PART);

	if (is_short || pressure > CALM_PRESSURE)
		memory->strained_ns = now_ns;
	if (is_short && (!memory->changed_ns || now_ns - memory->changed_ns > SETTLE_NS)) {
		const unsigned before = memory->allowed, from = busy < before ? busy : before;

		if (before < 2)
			return MEMORY_AS_IT_IS;
		memory->allowed = from < 2 ? 1 : from - 1;
		memory->changed_ns = now_ns;
		return dire && from > 1 ? MEMORY_AT_ONCE : MEMORY_FEWER;
	}
	if (memory->allowed < memory->most && now_ns - memory->strained_ns > CALM_NS &&
		now_ns - memory->changed_ns > CALM_NS) {
		memory->allowed++;
		memory->changed_ns = now_ns;
	}
	return MEMORY_AS_IT_IS;
}

/* Room for workers: in the machine's memory and in that of its GPUs. */

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

	run->on_battery = run->setup->options->compile.low_priority && os_on_battery();
	if (run->on_battery && !before)
		run_message(run, "the machine runs on its battery: waiting for the mains (--background)");
}

/* What a worker got of the processor since the last look, if it compiled then and now. A job's own
 * wall time does not tell: its first part waits for the GPU, and so do others beside it. */
static void look_at_share(struct run *run, struct slot *slot, double passed_ms)
{
	struct os_process_use use;

	if (!slot->child || os_process_used(NULL, child_pid(slot->child), &use) || !slot->greeted ||
		!slot->job_count || !use.runnable) {
		slot->cpu_ms = 0;
		return;
	}
	if (slot->cpu_ms > 0)
		pace_spend(&run->pace, use.cpu_ms - slot->cpu_ms, passed_ms);
	slot->cpu_ms = use.cpu_ms;
}

struct slot *run_look_at_machine(struct run *run)
{
	uint64_t now = os_monotonic_ns(), total, available;
	const double passed_ms = (double)(now - run->looked_ns) / 1e6;
	enum memory_verdict verdict;
	unsigned busy = 0;

	if (run->stopping || now - run->looked_ns < LOOK_EVERY_NS)
		return NULL;
	run->looked_ns = now;
	look_at_power(run);
	for (unsigned i = 0; i < run->setup->workers; i++) {
		struct slot *slot = &run->slots[i];

		slot->resident_bytes = slot->child ? os_process_resident(child_pid(slot->child)) : 0;
		look_at_share(run, slot, passed_ms);
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
