/* A run under --if-changed is remembered only if it has left nothing. */
#include "check.h"

#include <jitwarm/prime.h>
#include <jitwarm/startup.h>

TEST(whatever_is_left_counts)
{
	struct jw_prime_result result = {.plan.images = 1};
	size_t *const counts[] = {&result.plan.over_budget, &result.plan.unused,
							  &result.plan.refused,     &result.plan.sources_failed,
							  &result.compile.undone,   &result.compile.refused};

	assert_true(jw_run_left_nothing(&result));
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		*counts[i] = 1;
		assert_false(jw_run_left_nothing(&result));
		*counts[i] = 0;
	}
	result.compile.interrupted = true;
	assert_false(jw_run_left_nothing(&result));
	result.compile.interrupted = false;
	/* Files without code may be read later; beside others they are reported each time. */
	result.troubles = 1;
	assert_true(jw_run_left_nothing(&result));
	result.plan.images = 0;
	assert_false(jw_run_left_nothing(&result));
	/* A module that has failed for another reason waits for a change. */
	result = (struct jw_prime_result){.plan.images = 1, .compile.failed = 1};
	assert_true(jw_run_left_nothing(&result));
}

RUN_TESTS(NULL, NULL)
