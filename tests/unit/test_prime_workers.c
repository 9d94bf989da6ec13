/* The number of workers that prime starts: as many as have memory, while a quarter of the available
 * memory stays free for other programs. */
#include "check.h"

#include <stdio.h>
#include <unistd.h> /* for Linux alone: tests/unit/CMakeLists.txt */

#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "prime/planning.h"
#include "work/memory_budget.h"

enum { MODULES = 16, EACH_MIB = 100, NEED_MIB = MEMORY_WORKER_MIB + EACH_MIB };

static struct plan_module modules[MODULES];
static struct plan_target target = {.device = {.sm = 86}};

static void release_memory(unsigned mib)
{
	char text[200];

	(void)snprintf(text, sizeof text, "MemTotal: 64000000 kB\nMemAvailable: %u kB\n", mib * 1024);
	files_put_text(folder, "root/proc/meminfo", text);
}

static unsigned workers(unsigned jobs, uint64_t max_memory_bytes)
{
	const struct plan plan = {
		.targets = &target, .target_count = 1, .modules = modules, .module_count = MODULES};
	struct jw_prime_options options = {0};
	struct jw_prime_plan sum = {0};

	options.compile.jobs = jobs;
	options.compile.max_memory_bytes = max_memory_bytes;
	planning_sum_up(&plan, &options, &sum);
	return sum.forecast.workers;
}

TEST(a_quarter_of_the_memory_stays_free)
{
	for (size_t i = 0; i < MODULES; i++)
		modules[i] =
			(struct plan_module){.state = PLAN_COLD, .memory_bytes = (uint64_t)EACH_MIB << 20};
	release_memory(8 * NEED_MIB);
	assert_int_equal(workers(12, 0), 6);
	assert_int_equal(workers(5, 0), 5);
	release_memory(12 * NEED_MIB);
	assert_int_equal(workers(12, 0), 9);
	release_memory(64 * NEED_MIB);
	assert_int_equal(workers(12, 0), 12);
	assert_int_equal(workers(40, 0), MODULES);
	/* At least one worker starts; if the user named a number, that many. */
	release_memory(1);
	assert_int_equal(workers(12, 0), 1);
	assert_int_equal(workers(12, (uint64_t)8 * NEED_MIB << 20), 8);
	/* A warm module needs no memory. */
	release_memory(8 * NEED_MIB);
	for (size_t i = 3; i < MODULES; i++)
		modules[i].state = PLAN_WARM;
	modules[3].memory_bytes = UINT64_MAX / 2;
	assert_int_equal(workers(12, 0), 3);
}

static int prepare(void **state)
{
	char *root;

	if (make_folder(state))
		return -1;
	root = keep(os_join(folder, "root"));
	OK(os_env_set(why, "JITWARM_SYSTEM_ROOT", root));
	return 0;
}

RUN_TESTS(prepare, remove_folder)
