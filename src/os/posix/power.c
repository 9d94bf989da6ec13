/* Power, and working at the lowest priority. */
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/posix/posix.h"
#include "os/strain.h"

/* Whether a file of a power supply holds this word and nothing else. */
static bool says(const char *folder, const char *supply, const char *name, const char *word)
{
	char *path = mem_printf(NULL, "%s/%s/%s", folder, supply, name);
	struct buf text = {0};
	bool same = false;

	if (path && !os_read_file(NULL, path, 256, &text))
		same = text_starts(buf_text(&text), word) &&
			   (text.size == strlen(word) || text.data[strlen(word)] == '\n');
	buf_free(&text);
	mem_free(path);
	return same;
}

/* Source: the kernel's ABI/testing/sysfs-class-power. Batteries of mice and the like have the scope
 * "Device". A battery that is full, or not charging on its charger, does not discharge. */
bool os_on_battery(void)
{
	char *folder = posix_system_path("/sys/class/power_supply");
	struct os_names names;
	bool discharging = false, plugged = false;

	if (!folder || os_list(NULL, folder, &names)) {
		mem_free(folder);
		return false;
	}
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];

		if (says(folder, name, "scope", "Device"))
			continue;
		discharging = discharging || (says(folder, name, "type", "Battery") &&
									  says(folder, name, "status", "Discharging"));
		plugged =
			plugged || (says(folder, name, "type", "Mains") && says(folder, name, "online", "1"));
	}
	os_names_free(&names);
	mem_free(folder);
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
