/* The machine's memory and power are read within all limits of its control groups, from a /proc and
 * /sys of the test. */
#include <unistd.h> /* for Linux alone: tests/unit/CMakeLists.txt */

#include "check.h"

#include "root.h"

#include "os/platform.h"

#define MIB ((uint64_t)1 << 20)

static void expect_mib(uint64_t total_mib, uint64_t available_mib)
{
	uint64_t total = 0, available = 0;

	assert_true(os_memory(&total, &available));
	assert_int_equal(total / MIB, total_mib);
	assert_int_equal(available / MIB, available_mib);
}

TEST_WITH(groups_limit_memory_on_every_level, root_empty, NULL)
{
	root_put("proc/meminfo",
			 "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n");
	expect_mib(16384, 8192);
	/* In a container, the process's own group is the root. */
	root_put("proc/self/cgroup", "0::/\n");
	root_put("sys/fs/cgroup/memory.max", "max\n");
	expect_mib(16384, 8192);
	root_put("sys/fs/cgroup/memory.max", "4294967296\n");
	root_put("sys/fs/cgroup/memory.current", "3221225472\n");
	root_put("sys/fs/cgroup/memory.stat",
			 "anon 5\nfile 6\nactive_file 536870912\ninactive_file 536870912\n");
	expect_mib(4096, 2048);
	/* The limit is somewhere above the process's own group. */
	root_put("proc/self/cgroup", "1:name=x:/a\n0::/user.slice/app.scope\n");
	root_put("sys/fs/cgroup/user.slice/memory.max", "1073741824\n");
	root_put("sys/fs/cgroup/user.slice/memory.current", "104857600\n");
	root_put("sys/fs/cgroup/user.slice/app.scope/memory.max", "max\n");
	expect_mib(1024, 924);
	/* The process's group is not below the visible root, so it has no path. */
	root_put("proc/self/cgroup", "0::/../other\n");
	expect_mib(4096, 2048);
}

TEST_WITH(the_worse_pressure_counts, root_empty, NULL)
{
	assert_true(os_memory_pressure() <= 0);
	root_put("proc/pressure/memory",
			 "some avg10=1.50 avg60=0.00 avg300=0.00 total=0\nfull avg10=9.00\n");
	assert_true(os_memory_pressure() > 1.49 && os_memory_pressure() < 1.51);
	root_put("proc/self/cgroup", "0::/box\n");
	root_put("sys/fs/cgroup/box/memory.pressure",
			 "some avg10=42.07 avg60=0.00 avg300=0.00 total=0\n");
	assert_true(os_memory_pressure() > 42.06 && os_memory_pressure() < 42.08);
	root_put("proc/pressure/memory", "garbage");
	root_put("sys/fs/cgroup/box/memory.pressure", "");
	assert_true(os_memory_pressure() <= 0);
}

TEST_WITH(a_discharging_battery_counts_as_battery_power, root_empty, NULL)
{
	assert_false(os_on_battery());
	root_put("sys/class/power_supply/mouse/type", "Battery\n");
	root_put("sys/class/power_supply/mouse/scope", "Device\n");
	root_put("sys/class/power_supply/mouse/status", "Discharging\n");
	assert_false(os_on_battery());
	root_put("sys/class/power_supply/BAT0/type", "Battery\n");
	root_put("sys/class/power_supply/BAT0/status", "Full\n");
	assert_false(os_on_battery());
	root_put("sys/class/power_supply/BAT0/status", "Discharging\n");
	assert_true(os_on_battery());
	root_put("sys/class/power_supply/AC/type", "Mains\n");
	root_put("sys/class/power_supply/AC/online", "0\n");
	assert_true(os_on_battery());
	root_put("sys/class/power_supply/AC/online", "1\n");
	assert_false(os_on_battery());
}

RUN_TESTS(root_make, root_remove)
