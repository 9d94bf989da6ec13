#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/platform.h"
#include "os/posix/posix.h"

const char os_name[] = "linux";
const bool os_is_windows = false;

/* "5.15.153.1-microsoft-standard-WSL2"; a custom kernel has another name, but the same device. */
bool os_is_wsl(void)
{
	struct buf name = {0};
	bool named = posix_kernel_text(&name, "/proc/sys/kernel/osrelease") &&
				 (strstr(buf_text(&name), "icrosoft") || strstr(buf_text(&name), "WSL"));
	char *device = named ? NULL : posix_system_path("/dev/dxg");
	bool is = named || (device && os_exists(device));

	mem_free(device);
	buf_free(&name);
	return is;
}

/* Finds the first word of digits and points in "NVRM version: NVIDIA UNIX x86_64 Kernel Module
 * 550.163.01 Tue Apr 8 …". */
void os_running_driver(char ret_release[32])
{
	struct buf text = {0};
	size_t length;

	ret_release[0] = '\0';
	(void)posix_kernel_text(&text, "/proc/driver/nvidia/version");
	for (const char *word = buf_text(&text); *word;
		 word += length + strspn(word + length, " \t\n")) {
		length = strcspn(word, " \t\n");
		if (length && length < 32 && memchr(word, '.', length) &&
			strspn(word, "0123456789.") == length) {
			memcpy(ret_release, word, length);
			ret_release[length] = '\0';
			break;
		}
	}
	buf_free(&text);
}

bool os_has_gpu_file(void)
{
	static const char *const names[] = {"/dev/dxg", "/dev/nvidiactl", "/dev/nvmap"};
	bool has = false;

	for (size_t i = 0; !has && i < sizeof names / sizeof *names; i++) {
		char *path = posix_system_path(names[i]);

		has = path && os_exists(path);
		mem_free(path);
	}
	return has;
}

/* The largest file that is read as text. */
enum { MAX_TEXT = 65536 };

bool posix_kernel_text(struct buf *text, const char *format, ...)
{
	char *path, *whole;
	va_list arguments;
	bool read;

	va_start(arguments, format);
	path = mem_vprintf(format, arguments);
	va_end(arguments);
	whole = posix_system_path(path);
	read = whole && !os_read_file(NULL, whole, MAX_TEXT, text);
	mem_free(whole);
	mem_free(path);
	return read;
}

/* Hardware threads and the cores that they belong to.
 *
 * Sources: sched_getaffinity(2), Linux' admin-guide/cgroup-v2 (cpu.max) and
 * ABI/stable/sysfs-devices-system-cpu (topology/thread_siblings_list). */

/* Returns at most the threads that the control group grants (cgroup v2: "150000 100000", or "max
 * 100000" without a limit). */
static unsigned within_quota(unsigned cores)
{
	struct buf text = {0};
	unsigned long quota, period;

	if (posix_kernel_text(&text, "/sys/fs/cgroup/cpu.max") &&
		/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		sscanf(buf_text(&text), "%lu %lu", &quota, &period) == 2 && quota && period) {
		const unsigned long granted = (quota + period - 1) / period;

		cores = granted < cores ? (unsigned)granted : cores;
	}
	buf_free(&text);
	return cores;
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

/* Returns the first thread of this thread's core, whether we may use it or not ("0,8" or "0-1");
 * the thread itself if unknown. */
static size_t first_of_core(size_t thread)
{
	struct buf text = {0};
	size_t first = thread;

	if (posix_kernel_text(&text, "/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list",
						  thread)) {
		char *end;
		const unsigned long number = strtoul(buf_text(&text), &end, 10);

		if (end != buf_text(&text) && number < CPU_SETSIZE)
			first = number;
	}
	buf_free(&text);
	return first;
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

/* 128 KB suffice today; compilers and sanitizers enlarge frames. */
enum { LEAST_STACK = 256 << 10, GOOD_STACK = 8 << 20 };

int os_prepare_limits(struct jw_error *err)
{
	struct sigaction action;
	struct rlimit stack;

	if (!sigaction(SIGXFSZ, NULL, &action) && action.sa_handler == SIG_DFL)
		(void)signal(SIGXFSZ, SIG_IGN);
	/* The kernel checks the limit whenever the stack grows. */
	if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= LEAST_STACK)
		return 0;
	stack.rlim_cur = stack.rlim_max < GOOD_STACK ? stack.rlim_max : GOOD_STACK;
	if (stack.rlim_cur >= LEAST_STACK && !setrlimit(RLIMIT_STACK, &stack))
		return 0;
	return error_set(err, JW_ERR_LIMIT,
					 "the stack limit is %llu KiB: set %d KiB or more (ulimit -s)",
					 (unsigned long long)stack.rlim_cur >> 10, LEAST_STACK >> 10);
}

void os_limit_file_size(uint64_t most_bytes)
{
	struct rlimit size;

	if (getrlimit(RLIMIT_FSIZE, &size) || size.rlim_cur <= most_bytes)
		return;
	size.rlim_cur = (rlim_t)most_bytes;
	(void)setrlimit(RLIMIT_FSIZE, &size);
}

struct os_locale {
	locale_t own, before;
};

struct os_locale *os_locale_utf8(void)
{
	struct os_locale *locale = mem_alloc(sizeof *locale);

	locale->own = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!locale->own) {
		mem_free(locale);
		return NULL;
	}
	locale->before = uselocale(locale->own);
	return locale;
}

void os_locale_restore(struct os_locale *locale)
{
	if (!locale)
		return;
	(void)uselocale(locale->before);
	freelocale(locale->own);
	mem_free(locale);
}

static const char supplies[] = "/sys/class/power_supply";

/* Returns whether a file of a power supply contains exactly this word. */
static bool has_word(const char *supply, const char *name, const char *word)
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

		if (has_word(name, "scope", "Device"))
			continue;
		discharging = discharging || (has_word(name, "type", "Battery") &&
									  has_word(name, "status", "Discharging"));
		plugged = plugged || (has_word(name, "type", "Mains") && has_word(name, "online", "1"));
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

/* NVIDIA's display devices in Linux' list. Source: Documentation/ABI/testing/sysfs-bus-pci. */

static const char devices_folder[] = "/sys/bus/pci/devices";

/* Reads the number in a file such as .../vendor ("0x10de"). */
static bool attribute(const char *device, const char *name, unsigned long *ret_value)
{
	char *path = mem_printf("%s/%s/%s", devices_folder, device, name);
	struct buf text = {0};
	bool found = !os_read_file(NULL, path, 64, &text);

	if (found)
		*ret_value = strtoul(buf_text(&text), NULL, 16);
	buf_free(&text);
	mem_free(path);
	return found;
}

/* Base class 03: display controller; 0302 is a "3D controller", as in data-centre cards and some
 * laptops. */
static bool is_nvidia_display(const char *device)
{
	unsigned long vendor = 0, class = 0;

	return attribute(device, "vendor", &vendor) && vendor == OS_PCI_VENDOR_NVIDIA &&
		   attribute(device, "class", &class) && class >> 16 == 0x03;
}

int os_pci_enumerate(struct jw_error *err, struct os_pci_device *devices, size_t most,
					 size_t *ret_count)
{
	struct os_names names = {0};
	struct os_stat stat;
	size_t count = 0;

	if (os_stat(NULL, devices_folder, &stat)) {
		*ret_count = 0;
		return 0;
	}
	if (os_list(err, devices_folder, &names))
		return -1;
	for (size_t i = 0; i < names.count && count < most; i++) {
		unsigned long device = 0;

		if (!is_nvidia_display(names.items[i]) || !attribute(names.items[i], "device", &device))
			continue;
		devices[count] =
			(struct os_pci_device){.vendor = OS_PCI_VENDOR_NVIDIA, .device = (uint32_t)device};
		if (strlen(names.items[i]) < sizeof devices[count].bus)
			memcpy(devices[count].bus, names.items[i], strlen(names.items[i]) + 1);
		count++;
	}
	os_names_free(&names);
	*ret_count = count;
	return 0;
}

/* Source: Documentation/ABI/testing/sysfs-devices-power. */
bool os_pci_sleeps(const struct os_pci_device *device)
{
	struct buf text = {0};
	bool sleeps =
		device->bus[0] &&
		posix_kernel_text(&text, "%s/%s/power/runtime_status", devices_folder, device->bus) &&
		!strncmp(buf_text(&text), "suspended", strlen("suspended"));

	buf_free(&text);
	return sleeps;
}
