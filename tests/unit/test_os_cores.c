/* Hardware threads of one core count as one core, by a /sys of the test. */
#include "check.h"

#include <sched.h>
#include <stdio.h>

#include "root.h"

#include "os/platform.h"

#define THREAD "sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list"

static cpu_set_t ours;

/* `siblings` makes the text for each of this process's threads from its number. */
static void put_threads(void (*siblings)(char *text, size_t size, size_t place, size_t thread))
{
	size_t place = 0;

	for (size_t thread = 0; thread < CPU_SETSIZE; thread++) {
		char path[128], text[64];

		if (!CPU_ISSET(thread, &ours))
			continue;
		siblings(text, sizeof text, place++, thread);
		(void)snprintf(path, sizeof path, THREAD, thread);
		root_put(path, text);
	}
}

static void alone(char *text, size_t size, size_t place, size_t thread)
{
	(void)place;
	(void)snprintf(text, size, "%zu\n", thread);
}

static void all_on_one(char *text, size_t size, size_t place, size_t thread)
{
	(void)place;
	(void)thread;
	(void)snprintf(text, size, "0-1023\n");
}

/* The first thread of each pair is not this process's; the pair still shares a core. */
static void in_twos(char *text, size_t size, size_t place, size_t thread)
{
	(void)snprintf(text, size, "%zu,%zu\n", place / 2, thread);
}

static void nonsense(char *text, size_t size, size_t place, size_t thread)
{
	static const char *const texts[] = {"", "x", "-1", "99999999999999999999", "4096", "\n"};

	(void)thread;
	(void)snprintf(text, size, "%s", texts[place % (sizeof texts / sizeof *texts)]);
}

TEST_WITH(threads_are_counted_by_their_cores, root_empty, NULL)
{
	unsigned threads;

	threads = os_cores();
	assert_int_equal(os_physical_cores(), threads);
	put_threads(alone);
	assert_int_equal(os_physical_cores(), threads);
	put_threads(all_on_one);
	assert_int_equal(os_physical_cores(), 1);
	put_threads(in_twos);
	assert_int_equal(os_physical_cores(), (threads + 1) / 2);
	assert_int_equal(os_cores(), threads);
	put_threads(nonsense);
	assert_int_equal(os_physical_cores(), threads);
}

/* A quota limits processor time, not cores: the process runs on all cores. */
TEST_WITH(a_quota_limits_both, root_empty, NULL)
{
	root_put("sys/fs/cgroup/cpu.max", "100000 100000\n");
	assert_int_equal(os_cores(), 1);
	assert_int_equal(os_physical_cores(), 1);
	root_put("sys/fs/cgroup/cpu.max", "max 100000\n");
	assert_int_equal(os_cores(), (unsigned)CPU_COUNT(&ours));
	put_threads(all_on_one);
	assert_int_equal(os_physical_cores(), 1);
}

TEST_PROGRAM
{
	CPU_ZERO(&ours);
	if (sched_getaffinity(0, sizeof ours, &ours))
		return check_skip("this process's processors are unknown");
	return RUN_GROUP(root_make, root_remove);
}
