/* The queue: most expensive first, each module once; a module that ended its worker gets a second
 * try when nothing else is left. */
#include "check.h"

#include <stdlib.h>

#include "run/job_queue.h"
#include "run/run_state.h"

static struct plan_module modules[5];
static struct plan plan = {.modules = modules, .module_count = 5};

static int prepare(void **state)
{
	static const enum plan_state states[5] = {PLAN_COLD, PLAN_WARM, PLAN_COLD, PLAN_LEFT_OUT,
											  PLAN_COLD};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		modules[i].state = states[i];
	return 0;
}

TEST(a_module_is_tried_twice_and_no_more)
{
	struct job_queue queue;

	assert_int_equal(job_queue_open(NULL, &plan, &queue), 0);
	assert_int_equal(job_queue_take(&queue), 0);
	assert_false(job_queue_is_suspect(&queue, 0));
	assert_true(job_queue_retry(&queue, 0));
	assert_true(job_queue_is_suspect(&queue, 0));
	assert_int_equal(job_queue_take(&queue), 2);
	assert_true(job_queue_retry(&queue, 2));
	assert_int_equal(job_queue_take(&queue), 4);
	assert_int_equal(job_queue_take(&queue), QUEUE_EMPTY);
	assert_int_equal(job_queue_take_suspect(&queue), 0);
	assert_false(job_queue_retry(&queue, 0));
	/* Taken and never begun: it is next again, and still a suspect. */
	assert_int_equal(job_queue_take_suspect(&queue), 2);
	assert_false(job_queue_has_suspects(&queue));
	job_queue_return(&queue, 2);
	assert_int_equal(job_queue_take(&queue), QUEUE_EMPTY);
	assert_int_equal(job_queue_take_suspect(&queue), 2);
	assert_int_equal(job_queue_take_suspect(&queue), QUEUE_EMPTY);
	job_queue_close(&queue);
}

/* Idle workers are those that live without a job. */
TEST(nothing_is_left_of_a_cleared_queue)
{
	struct job_queue queue;

	assert_int_equal(job_queue_open(NULL, &plan, &queue), 0);
	assert_int_equal(job_queue_take(&queue), 0);
	job_queue_return(&queue, 0);
	assert_int_equal(job_queue_take(&queue), 0);
	assert_true(job_queue_retry(&queue, 0));
	/* One from the middle; the others keep their order. */
	assert_true(job_queue_take_this(&queue, 4));
	assert_false(job_queue_take_this(&queue, 4));
	assert_int_equal(job_queue_peek(&queue), 2);
	job_queue_return(&queue, 4);
	job_queue_clear(&queue);
	assert_int_equal(job_queue_take(&queue), QUEUE_EMPTY);
	assert_int_equal(job_queue_take_suspect(&queue), QUEUE_EMPTY);
	job_queue_close(&queue);
}

RUN_TESTS(prepare, NULL)
