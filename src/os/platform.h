/* Which system this is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* "linux" or "windows". */
extern const char os_name[];
/* For what differs in names and places alone; calls that differ are behind functions of os. */
extern const bool os_is_windows;
/* Whether this Linux runs inside Windows (WSL): its driver comes from Windows, and its cache
 * differs from that of Windows programs. */
bool os_is_wsl(void);
/* Whether the kernel's part of NVIDIA's driver shows a device file: WSL's GPU (dxg) and Jetson's
 * (nvmap) are no PCI devices, and some containers see no PCI bus (nvidiactl). */
bool os_has_gpu_file(void);
/* The release of the driver whose kernel part is loaded ("550.163.01", on Windows "551.61"), which
 * an update may replace at the next boot only. Empty if there is none. On Windows
 * $JITWARM_KERNEL_MODULE names the file in place of the system's list: the test beds set it */
void os_running_driver(char ret_release[32]);

/* Cores that this process may use. */

/* Affinity and quotas (cgroup, job object) count; each hardware thread counts as one; at least 1 */
unsigned os_cores(void);
/* The same, with threads that share a core counted once; at most os_cores(), and equal to it if the
 * system does not tell. */
unsigned os_physical_cores(void);

/* Memory of the machine and of processes. */

/* Total memory, and the memory available without swapping, within the limits of the machine and of
 * our control groups; false if the system does not tell. On Linux $JITWARM_SYSTEM_ROOT, if set, is
 * put before /proc and /sys in this function, os_memory_pressure and os_on_battery (os/platform.h):
 * the test beds describe their own machine that way. */
bool os_memory(uint64_t *ret_total_bytes, uint64_t *ret_available_bytes);
/* Percent of the last ten seconds in which some process waited for memory, in the whole machine or
 * in our control group (Linux' PSI); on Windows 100 while the system reports a shortage of memory.
 * 0 if unknown. */
double os_memory_pressure(void);

/* Resident memory of another process of ours, now. 0 if unknown. */
uint64_t os_process_resident(int pid);
/* This process's peak resident memory. 0 if unknown. */
uint64_t os_peak_resident_bytes(void);

/* Returns freed memory to the system, if the allocator would keep it. */
void os_release_memory(void);
/* Freed memory, up to so many bytes, stays with this process and is reused without the system,
 * which would have to clear it. For a process that repeats the same work. glibc; no effect
 * elsewhere. */
void os_keep_memory(uint64_t most_bytes);
/* If memory runs out, Linux ends this process before anything of the user's. */
void os_prefer_for_oom_kill(void);

/* Limits that a shell or a service sets for this process (ulimit). */

/* Prepares the program at its start: a file that grows past the limit makes the write fail
 * (JW_ERR_IO) instead of ending the process; a small stack is enlarged. JW_ERR_LIMIT: the stack
 * stays too small. Does nothing on Windows. */
int os_prepare_limits(struct jw_error *err);

/* The encoding of text for libraries. */

/* While it lasts, UTF-8 is the C locale's encoding for libraries in this thread (libarchive
 * converts names by it). NULL if the system has no such locale, which os_locale_restore accepts. */
struct os_locale;
struct os_locale *os_locale_utf8(void);
void os_locale_restore(struct os_locale *locale);

/* Power, and working at the lowest priority. */

/* Whether the machine runs on its battery now. False if it has none or the system does not tell. */
bool os_on_battery(void);

/* From now on this process runs at the lowest priority for processor and disk (Linux: nice 19,
 * SCHED_IDLE, the idle class of I/O; Windows: the background mode, and slow, efficient cores). Not
 * for a process that holds locks that others wait for. */
void os_work_in_background(void);

/* PCI display devices by NVIDIA, found without the driver (sysfs; on Windows the registry). */
struct os_pci_device {
	uint32_t vendor, device;
	char bus[32]; /* "0000:01:00.0", lower case; "" where unknown */
};
/* $JITWARM_PCI_DEVICES ("10de:2484@0000:01:00.0,...") replaces the system's list: the test beds set
 * it. Fills in at most `most` devices. */
int os_pci_gpus(struct jw_error *err, struct os_pci_device *devices, size_t most,
				size_t *ret_count);

/* Whether the system has put a device to sleep, as laptops do with a second GPU: who asks its
 * driver wakes it. False where the system does not tell (Windows). */
bool os_pci_sleeps(const struct os_pci_device *device);

/* Connects the common part with each system's own. */
enum { OS_PCI_VENDOR_NVIDIA = 0x10de };

/* The system's own list: NVIDIA's display devices (class 03xx). */
int os_pci_enumerate(struct jw_error *err, struct os_pci_device *devices, size_t most,
					 size_t *ret_count);
/* A list as in JITWARM_PCI_DEVICES. */
int os_pci_parse(struct jw_error *err, const char *list, struct os_pci_device *devices, size_t most,
				 size_t *ret_count);
