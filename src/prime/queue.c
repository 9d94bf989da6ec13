#include "prime/queue.h"

#include "base/mem.h"

int queue_open(struct jw_error *err, const struct plan *plan, struct queue *ret_queue)
{
	struct queue queue = {.plan = plan};

	queue.order = mem_array(err, plan->module_count, sizeof *queue.order);
	queue.again = mem_array(err, plan->module_count, sizeof *queue.again);
	queue.tries = mem_array(err, plan->module_count, sizeof *queue.tries);
	if (!queue.order || !queue.again || !queue.tries) {
		queue_close(&queue);
		return -1;
	}
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_COLD)
			queue.order[queue.count++] = i;
	*ret_queue = queue;
	return 0;
}

void queue_close(struct queue *queue)
{
	mem_free(queue->order);
	mem_free(queue->again);
	mem_free(queue->tries);
	*queue = (struct queue){0};
}

size_t queue_peek(const struct queue *queue)
{
	if (queue->again_count)
		return queue->again[queue->again_count - 1];
	return queue->next < queue->count ? queue->order[queue->next] : QUEUE_EMPTY;
}

size_t queue_take(struct queue *queue)
{
	size_t module = queue_peek(queue);

	if (queue->again_count)
		queue->again_count--;
	else if (module != QUEUE_EMPTY)
		queue->next++;
	return module;
}

/* Every module is in one place at a time, so the stack cannot overflow. */
void queue_return(struct queue *queue, size_t module)
{
	queue->again[queue->again_count++] = module;
}

bool queue_retry(struct queue *queue, size_t module)
{
	if (++queue->tries[module] >= QUEUE_MOST_TRIES)
		return false;
	queue_return(queue, module);
	return true;
}
