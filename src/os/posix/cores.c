#include "os/cores.h"

/* Hardware threads and the cores that they belong to.
 *
 * Sources: sched_getaffinity(2), Linux' admin-guide/cgroup-v2 (cpu.max) and
 * ABI/stable/sysfs-devices-system-cpu (topology/thread_siblings_list). */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/posix/posix.h"

/* Threads that the control group grants (cgroup v2 "max 100000" or "150000 100000"), 0 without a
 * limit. */
static unsigned cgroup_cores(void)
{
	struct buf text = {0};
	unsigned cores = 0;
	unsigned long quota, period;

	if (!posix_kernel_text(&text, "/sys/fs/cgroup/cpu.max"))
		return 0;
	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
	if (sscanf(buf_text(&text), "%lu %lu", &quota, &period) == 2 && period)
		cores = (unsigned)((quota + period - 1) / period);
	buf_free(&text);
	return cores;
}

static unsigned within_quota(unsigned cores)
{
	const unsigned quota = cgroup_cores();

	return quota && quota < cores ? quota : cores;
}

static bool threads_of_ours(cpu_set_t *set)
{
	CPU_ZERO(set);
	return !sched_getaffinity(0, sizeof *set, set) && CPU_COUNT(set) > 0;
}

unsigned os_cores(void)
{
	cpu_set_t set;

	return within_quota(threads_of_ours(&set) ? (unsigned)CPU_COUNT(&set) : 1);
}

/* The first thread of this thread's core, ours or not ("0,8" or "0-1"); the thread itself if
 * unknown. */
static size_t first_of_core(size_t thread)
{
	struct buf text = {0};
	char *end;
	unsigned long first = CPU_SETSIZE;

	if (posix_kernel_text(&text, "/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list",
						  thread)) {
		first = strtoul(buf_text(&text), &end, 10);
		if (end == buf_text(&text))
			first = CPU_SETSIZE;
	}
	buf_free(&text);
	return first < CPU_SETSIZE ? first : thread;
}

unsigned os_physical_cores(void)
{
	cpu_set_t ours, cores;

	if (!threads_of_ours(&ours))
		return 1;
	CPU_ZERO(&cores);
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &ours))
			CPU_SET(first_of_core(i), &cores);
	return within_quota((unsigned)CPU_COUNT(&cores));
}
