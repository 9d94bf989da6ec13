#include "run/job_queue.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "run/run_state.h"

int job_queue_open(const struct plan *plan, struct job_queue *ret_queue)
{
	struct job_queue queue = {.plan = plan};

	queue.order = mem_array(plan->module_count, sizeof *queue.order);
	queue.again = mem_array(plan->module_count, sizeof *queue.again);
	queue.suspects = mem_array(plan->module_count, sizeof *queue.suspects);
	queue.tries = mem_array(plan->module_count, sizeof *queue.tries);
	if ((!queue.again) || !queue.suspects || !queue.tries) {
		job_queue_close(&queue);
		return -1;
	}
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_COLD)
			queue.order[queue.count++] = i;
	*ret_queue = queue;
	return 0;
}

void job_queue_close(struct job_queue *queue)
{
	mem_free(queue->order);
	mem_free(queue->again);
	mem_free(queue->suspects);
	mem_free(queue->tries);
	*queue = (struct job_queue){0};
}

void job_queue_clear(struct job_queue *queue)
{
	queue->next = queue->count;
	queue->again_count = 0;
	queue->next_suspect = queue->suspect_count;
}

size_t job_queue_peek(const struct job_queue *queue)
{
	if (queue->again_count)
		return queue->again[queue->again_count - 1];
	return queue->next < queue->count ? queue->order[queue->next] : QUEUE_EMPTY;
}

size_t job_queue_take(struct job_queue *queue)
{
	size_t module = job_queue_peek(queue);

	if (queue->again_count)
		queue->again_count--;
	else if (module != QUEUE_EMPTY)
		queue->next++;
	return module;
}

/* The ones before it keep their order. */
static size_t take_at(struct job_queue *queue, size_t at)
{
	const size_t module = queue->order[at];

	memmove(queue->order + queue->next + 1, queue->order + queue->next,
			(at - queue->next) * sizeof *queue->order);
	queue->order[queue->next++] = module;
	return module;
}

bool job_queue_take_this(struct job_queue *queue, size_t module)
{
	for (size_t at = queue->next; at < queue->count; at++)
		if (queue->order[at] == module) {
			(void)take_at(queue, at);
			return true;
		}
	return false;
}

/* The first module that `fits`, QUEUE_WAIT if none of the remaining fits. */
static size_t job_queue_take_fitting(struct job_queue *queue,
									 bool (*fits)(const void *context, size_t module),
									 const void *context)
{
	size_t first = job_queue_peek(queue);

	if (first == QUEUE_EMPTY || fits(context, first))
		return job_queue_take(queue);
	for (size_t at = queue->next; at < queue->count; at++)
		if (fits(context, queue->order[at]))
			return take_at(queue, at);
	return QUEUE_WAIT;
}

bool job_queue_has_suspects(const struct job_queue *queue)
{
	return queue->next_suspect < queue->suspect_count;
}

bool job_queue_is_suspect(const struct job_queue *queue, size_t module)
{
	return queue->tries[module] > 0;
}

size_t job_queue_take_suspect(struct job_queue *queue)
{
	return job_queue_has_suspects(queue) ? queue->suspects[queue->next_suspect++] : QUEUE_EMPTY;
}

/* Every module is in one place at a time, so the stack cannot overflow. */
void job_queue_return(struct job_queue *queue, size_t module)
{
	if (job_queue_is_suspect(queue, module) && queue->next_suspect)
		queue->suspects[--queue->next_suspect] = module;
	else
		queue->again[queue->again_count++] = module;
}

/* A module becomes a suspect at most once, so they all fit. */
bool job_queue_retry(struct job_queue *queue, size_t module)
{
	if (++queue->tries[module] >= QUEUE_MOST_TRIES)
		return false;
	queue->suspects[queue->suspect_count++] = module;
	return true;
}

/* Decides a worker's next step. */

/* Only if the current job is shorter than this, the next one has to be sent early. */
enum { SHORT_MS = 250 };

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

size_t run_remote_ready(const struct run *run)
{
	const struct job_queue *queue = &run->queue;
	size_t ready = queue->again_count;

	if (!run->remote.modules || run->remote.gone || run->remote.pace.resting)
		return SIZE_MAX;
	for (size_t i = queue->next; i < queue->count; i++)
		ready += run->remote.modules[queue->order[i]].state == REMOTE_OURS;
	return ready;
}

/* Whether a worker may begin this module now. */
static bool run_remote_allows(const struct run *run, size_t module)
{
	return !run->remote.modules || run->remote.gone || run->remote.pace.resting ||
		   run->remote.modules[module].state == REMOTE_OURS;
}

bool run_needs_worker(const struct run *run)
{
	if (job_queue_peek(&run->queue) != QUEUE_EMPTY)
		return run->alive < run->memory.allowed &&
			   run->alive - run_busy_workers(run) < run_remote_ready(run);
	return job_queue_has_suspects(&run->queue) && !run->alive;
}

struct room_candidate {
	const struct run *run;
	const struct slot *slot;
};

static bool module_has_room(const void *context, size_t module)
{
	const struct room_candidate *candidate = context;

	return run_remote_allows(candidate->run, module) &&
		   run_has_room(candidate->run, candidate->slot, &(struct run_job){.module = module});
}

/* The next job of this worker. A suspect is tried when all else is done, and alone, so that neither
 * another worker's memory nor a second job can be the cause. */
static size_t take_next_module(struct run *run, const struct slot *slot)
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
	return job_queue_take_fitting(&run->queue, module_has_room,
								  &(struct room_candidate){run, slot});
}

/* Finds a device for a module, or the reason why it cannot be compiled. GPUs of the same
 * architecture share the workers, and each holds its own context. */
static struct run_order order_for(const struct run *run, const struct slot *slot, size_t index)
{
	const struct plan_module *module = &run->setup->plan->modules[index];
	const char *path = run->setup->spool->places[index].path;
	size_t device = device_pool_choose(&run->pool, run->setup->plan->targets[module->target].device,
									   (size_t)(slot - run->slots));
	struct run_order order = {ORDER_CANNOT, {index, device}, ""};

	/* Another run may have compiled it since the plan was made. */
	if (run->setup->live && plan_is_compiled(run->setup->system->cache.path, module)) {
		order.what = ORDER_MET;
	} else if (!path || strlen(path) >= sizeof((struct protocol_job *)0)->path) {
		(void)text_format(order.why, sizeof order.why, "%s",
						  path ? "its path is too long" : "its bytes cannot be read");
	} else if (device == DEVICE_NONE) {
		(void)text_format(order.why, sizeof order.why, "no GPU that it is for gives a context: %s",
						  run->pool.why);
	} else {
		order.what = ORDER_COMPILE;
	}
	return order;
}

struct run_order run_next_order(struct run *run, const struct slot *slot)
{
	size_t index = QUEUE_EMPTY;

	if (!slot->retired && slot->job_count < RUN_DEPTH)
		index = take_next_module(run, slot);
	if (index == QUEUE_WAIT)
		run->held_back = true;
	if (index == QUEUE_WAIT &&
		(slot->job_count || (slot->resident_bytes <= 2 * run->memory.worker_bytes &&
							 run->alive <= run->memory.allowed)))
		return (struct run_order){.what = ORDER_NOTHING};
	if (index == QUEUE_WAIT || index == QUEUE_EMPTY)
		return (struct run_order){.what = slot->job_count ? ORDER_NOTHING : ORDER_FINISH};
	/* Also where the place is left alone: it is begun. */
	if (run->remote.modules)
		run->remote.modules[index].state = REMOTE_OURS;
	return order_for(run, slot, index);
}

void run_describe_job(const struct run *run, const struct slot *slot, const struct run_job *job,
					  struct protocol_job *ret_job)
{
	const struct plan_module *module = &run->setup->plan->modules[job->module];
	const struct spool_place *place = &run->setup->spool->places[job->module];

	*ret_job = (struct protocol_job){
		.id = job->module,
		.device = run->pool.devices[job->device].ordinal,
		.form = module->form,
		.offset = place->offset,
		.size_bytes = place->size_bytes,
		.spare_bytes = run_gpu_spare(run, slot, job->device),
		.entry_offset = module->entry_offset - module->container_offset,
	};
	memcpy(ret_job->path, place->path, strlen(place->path) + 1);
}
