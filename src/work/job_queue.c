#include "work/job_queue.h"

#include <string.h>

#include "base/mem.h"

void job_queue_open(const struct plan *plan, struct job_queue *ret_queue)
{
	struct job_queue queue = {
		.order = mem_array(plan->module_count, sizeof *queue.order),
		.again = mem_array(plan->module_count, sizeof *queue.again),
		.suspects = mem_array(plan->module_count, sizeof *queue.suspects),
		.tries = mem_array(plan->module_count, sizeof *queue.tries),
	};

	/* Modules that programs here are known to use come first. */
	for (int used = 1; used >= 0; used--)
		for (size_t i = 0; i < plan->module_count; i++)
			if (plan->modules[i].state == PLAN_COLD && plan->modules[i].used == (used == 1) &&
				plan->modules[i].damage != CACHE_DAMAGE_OTHER)
				queue.order[queue.count++] = i;
	*ret_queue = queue;
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

bool job_queue_take_this(struct job_queue *queue, size_t module)
{
	for (size_t at = queue->next; at < queue->count; at++)
		if (queue->order[at] == module) {
			memmove(queue->order + queue->next + 1, queue->order + queue->next,
					(at - queue->next) * sizeof *queue->order);
			queue->order[queue->next++] = module;
			return true;
		}
	return false;
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
	if (++queue->tries[module] >= QUEUE_MAX_TRIES)
		return false;
	queue->suspects[queue->suspect_count++] = module;
	return true;
}
