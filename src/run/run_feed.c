/* Work for workers, and fewer workers where there are too many. */
#include <stdio.h>
#include <string.h>

#include "os/clock.h"
#include "run/run_state.h"
#include "worker/thread_share.h"

/* Only where the job in hand is shorter than this is there a need to hurry with the next. */
enum { SHORT_MS = 250 };

/* ---- work for a slot */

/* Another run may have compiled it since the plan was made. */
static bool is_there_now(const struct run *run, const struct plan_module *module)
{
	return run->setup->live && plan_is_compiled(run->setup->system->cache.path, module);
}

/* What is left to do beside this module, on one core. */
static double others_ms(const struct run *run, const struct slot *slot)
{
	const struct plan *plan = run->setup->plan;
	const uint64_t now = os_monotonic_ns();
	double left_ms = 0;

	for (unsigned i = 0; i < run->setup->workers; i++)
		for (size_t k = 0; k < run->slots[i].job_count; k++) {
			double ms = plan->modules[run->slots[i].jobs[k].module].cost_ms;

			if (!k)
				ms -= (double)(now - run->slots[i].since_ns) / 1e6;
			left_ms += ms > 0 && &run->slots[i] != slot ? ms : 0;
		}
	return left_ms + job_queue_cost_ms(&run->queue);
}

/* Only where the user allows it: other bytes come of it than the driver's own. What took a worker
 * with it, or failed when it was split, is compiled as it is. */
static unsigned threads_for(const struct run *run, const struct slot *slot, size_t index)
{
	struct job job = {.module = index};

	if (!run->setup->split_cores || slot->job_count || job_queue_is_suspect(&run->queue, index))
		return 1;
	job.threads = thread_share(run->setup->plan->modules[index].cost_ms, others_ms(run, slot),
							   run->setup->split_cores);
	return job.threads > 1 && run_has_room(run, slot, &job) ? job.threads : 1;
}

static int send_job(struct run *run, struct slot *slot, size_t index)
{
	static struct protocol_job job;
	const struct plan_module *module = &run->setup->plan->modules[index];
	const struct spool_place *place = &run->setup->spool->places[index];
	/* GPUs of the same architecture share the workers: each holds a context of its own. */
	size_t device = device_pool_choose(&run->pool, run->setup->plan->targets[module->target].device,
									   (size_t)(slot - run->slots));
	const unsigned threads = threads_for(run, slot, index);
	char reason[256];

	if (!place->path || strlen(place->path) >= sizeof job.path) {
		run_module_failed(run, index,
						  place->path ? "its path is too long" : "its bytes cannot be read", "");
		return 0;
	}
	if (device == DEVICE_NONE) {
		(void)snprintf(reason, sizeof reason, "no GPU that it is for gives a context: %s",
					   run->pool.why);
		run_module_failed(run, index, reason, "");
		return 0;
	}
	job = (struct protocol_job){
		.id = index,
		.device = run->pool.devices[device].ordinal,
		.form = module->form,
		.offset = place->offset,
		.size_bytes = place->size_bytes,
		.spare_bytes = run_gpu_spare(run, slot, device),
		.entry_offset = module->entry_offset - module->container_offset,
		.threads = threads,
	};
	memcpy(job.path, place->path, strlen(place->path) + 1);
	if (child_send(run->err, slot->child, &job))
		return -1;
	if (!slot->job_count)
		slot->since_ns = os_monotonic_ns();
	slot->devices |= UINT64_C(1) << device;
	slot->jobs[slot->job_count++] = (struct job){index, device, threads};
	run_report(run, module);
	return 0;
}

double run_first_cost_ms(const struct run *run, const struct slot *slot)
{
	return run->setup->plan->modules[slot->jobs[0].module].cost_ms;
}

unsigned run_busy_workers(const struct run *run)
{
	unsigned busy = 0;

	for (unsigned i = 0; i < run->setup->workers; i++)
		busy += run->slots[i].job_count > 0;
	return busy;
}

bool run_needs_worker(const struct run *run)
{
	if (job_queue_peek(&run->queue) != QUEUE_EMPTY)
		return run->alive < run->memory.allowed;
	return job_queue_has_suspects(&run->queue) && !run->alive;
}

struct candidate {
	const struct run *run;
	const struct slot *slot;
};

static bool has_room(const void *context, size_t module)
{
	const struct candidate *candidate = context;

	return run_has_room(candidate->run, candidate->slot,
						&(struct job){.module = module, .threads = 1});
}

/* What this worker does next. A module that took a worker with it comes when all else is done, and
 * alone: then neither a neighbour that wanted the same memory nor a second job is to blame. */
static size_t take_next(struct run *run, const struct slot *slot)
{
	if (slot->job_count && (run_first_cost_ms(run, slot) > SHORT_MS ||
							job_queue_is_suspect(&run->queue, slot->jobs[0].module)))
		return QUEUE_EMPTY;
	if (run->on_battery &&
		(job_queue_peek(&run->queue) != QUEUE_EMPTY || job_queue_has_suspects(&run->queue)))
		return QUEUE_WAIT;
	if (job_queue_peek(&run->queue) == QUEUE_EMPTY)
		return run_busy_workers(run) ? QUEUE_EMPTY : job_queue_take_suspect(&run->queue);
	if (run_busy_workers(run) - (slot->job_count > 0) >= run->memory.allowed)
		return QUEUE_WAIT;
	return job_queue_take_fitting(&run->queue, has_room, &(struct candidate){run, slot});
}

/* It holds memory that those need who have work, or there are too many. */
static bool should_go(const struct run *run, const struct slot *slot)
{
	return slot->resident_bytes > 2 * run->memory.worker_bytes || run->alive > run->memory.allowed;
}

void run_feed(struct run *run, struct slot *slot)
{
	while (!run->stopping && !slot->retired && slot->job_count < RUN_DEPTH) {
		size_t index = take_next(run, slot);

		if (index == QUEUE_WAIT) {
			run->held_back = true;
			if (slot->job_count || !should_go(run, slot))
				return;
			index = QUEUE_EMPTY;
		}
		if (index == QUEUE_EMPTY)
			break;
		if (is_there_now(run, &run->setup->plan->modules[index])) {
			run->result->met++;
			run_module_done(run, index);
		} else if (send_job(run, slot, index)) {
			run_break_off(run);
			return;
		}
	}
	if (!slot->job_count && slot->child) {
		slot->since_ns = os_monotonic_ns();
		slot->finishing = true;
		child_finish(slot->child);
	}
}

/* ---- too many workers */

unsigned run_others(const struct run *run, const struct slot *slot)
{
	unsigned count = 0;

	for (unsigned i = 0; i < run->setup->workers; i++)
		count += &run->slots[i] != slot && run->slots[i].child && run->slots[i].greeted &&
				 !run->slots[i].retired;
	return count;
}

bool run_retire(struct run *run, struct slot *slot, const char *why)
{
	unsigned others = run_others(run, slot);
	char line[512];

	if (!others)
		return false;
	slot->retired = true;
	(void)snprintf(line, sizeof line,
				   "there is no room for so many workers (%.300s): going on with %u", why, others);
	run_message(run, line);
	return true;
}

static bool is_in_use(const struct run *run, const struct slot *slot, size_t device)
{
	for (unsigned i = 0; i < run->setup->workers; i++)
		for (size_t k = 0; &run->slots[i] != slot && k < run->slots[i].job_count; k++)
			if (run->slots[i].jobs[k].device == device)
				return true;
	return false;
}

void run_without_context(struct run *run, struct slot *slot, struct job job, const char *why)
{
	struct jw_error error = {0};

	job_queue_return(&run->queue, job.module);
	if (run->pool.works[job.device] || is_in_use(run, slot, job.device)) {
		/* The only one left is replaced: who had the context may have ended since, for want of
		 * another job. */
		if (!run_retire(run, slot, why)) {
			run->fruitless++;
			(void)snprintf(run->no_context, sizeof run->no_context, "got no CUDA context (%.200s)",
						   why);
		}
		return;
	}
	if (!device_pool_bar(&error, &run->pool, job.device, why))
		run_break_off_with(run, &error);
}
