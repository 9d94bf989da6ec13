#include "os/power.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/posix/posix.h"

static const char supplies[] = "/sys/class/power_supply";

/* Whether a file of a power supply contains exactly this word. */
static bool says(const char *supply, const char *name, const char *word)
{
	struct buf text = {0};
	bool same = false;

	if (posix_kernel_text(&text, "%s/%s/%s", supplies, supply, name))
		same = text_starts(buf_text(&text), word) &&
			   (text.size == strlen(word) || text.data[strlen(word)] == '\n');
	buf_free(&text);
	return same;
}

/* Source: the kernel's ABI/testing/sysfs-class-power. Batteries of mice and other devices have the
 * scope "Device". A battery that is full, or plugged in without charging, does not discharge. */
bool os_on_battery(void)
{
	char *folder = posix_system_path(supplies);
	struct os_names names;
	bool discharging = false, plugged = false;
	bool unknown = !folder || os_list(NULL, folder, &names);

	mem_free(folder);
	if (unknown)
		return false;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];

		if (says(name, "scope", "Device"))
			continue;
		discharging =
			discharging || (says(name, "type", "Battery") && says(name, "status", "Discharging"));
		plugged = plugged || (says(name, "type", "Mains") && says(name, "online", "1"));
	}
	os_names_free(&names);
	return discharging && !plugged;
}

/* The C library has no wrapper. Source: ioprio_set(2), linux/ioprio.h. */
enum { IO_WHO_PROCESS = 1, IO_CLASS_IDLE = 3, IO_CLASS_SHIFT = 13 };

void os_work_in_background(void)
{
	struct sched_param none = {0};

	(void)setpriority(PRIO_PROCESS, 0, 19);
	(void)sched_setscheduler(0, SCHED_IDLE, &none);
	(void)syscall(SYS_ioprio_set, IO_WHO_PROCESS, 0, IO_CLASS_IDLE << IO_CLASS_SHIFT);
}
