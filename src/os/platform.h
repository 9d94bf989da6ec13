/* Which system this is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* "linux" or "windows". */
extern const char os_name[];
/* Only for differences in names and folders; calls that differ are behind the functions of os. */
extern const bool os_is_windows;
/* Returns whether this Linux runs inside Windows (WSL): its driver comes from Windows, and its
 * cache differs from that of Windows programs. */
bool os_is_wsl(void);
/* Returns whether the kernel's part of NVIDIA's driver shows a device file: WSL's GPU (dxg) and
 * Jetson's (nvmap) are no PCI devices, and some containers see no PCI bus (nvidiactl). */
bool os_has_gpu_file(void);
/* Finds the release of the driver whose kernel module is loaded ("550.163.01", on Windows
 * "551.61"); after an update that is the old one until the next boot. Empty if there is none. On
 * Windows $JITWARM_KERNEL_MODULE replaces the system's list with one file, for tests. */
void os_running_driver(char ret_release[32]);

/* Cores that this process may use. */

/* Returns the cores that this process may use, at least 1. Affinity and quotas (cgroup, job object)
 * are taken into account; each hardware thread counts as one. */
unsigned os_cores(void);
/* Returns the number of cores, where threads that share a core count once; at most os_cores(), and
 * equal to it if the system does not report it. */
unsigned os_physical_cores(void);

/* Memory of the machine and of processes. */

/* Finds the total memory, and the memory available without swapping, within the limits of the
 * machine and of our control groups; false if the system does not report it. On Linux
 * $JITWARM_SYSTEM_ROOT, if set, is prefixed to /proc and /sys in this function, os_memory_pressure
 * and os_on_battery, so that tests can describe a machine. */
bool os_memory(uint64_t *ret_total_bytes, uint64_t *ret_available_bytes);
/* Returns the percentage of the last ten seconds in which some process waited for memory, in the
 * whole machine or in our control group (Linux' PSI); on Windows 100 while the system reports a
 * shortage of memory. 0 if unknown. */
double os_memory_pressure(void);

/* Returns the current resident memory of another process that this one started; 0 if unknown. */
uint64_t os_process_resident(int pid);
/* Returns this process's peak resident memory; 0 if unknown. */
uint64_t os_peak_resident_bytes(void);

/* Returns freed memory to the system, if the allocator would keep it. */
void os_release_memory(void);
/* Keeps up to so many freed bytes with this process, to reuse them without asking the system, which
 * would have to clear them. For a process that repeats the same work. Only has an effect with
 * glibc. */
void os_keep_memory(uint64_t most_bytes);
/* Makes Linux end this process before any of the user's if memory runs out. */
void os_prefer_for_oom_kill(void);
/* From now on, this process and the programs that it starts make no file larger than this. Does
 * nothing on Windows. */
void os_limit_file_size(uint64_t most_bytes);

/* Limits that a shell or a service sets for this process (ulimit). */

/* Prepares the program at its start: a file that grows past the limit makes the write fail
 * (JW_ERR_IO) instead of ending the process, and a small stack is enlarged. JW_ERR_LIMIT if the
 * stack stays too small. Does nothing on Windows. */
int os_prepare_limits(struct jw_error *err);

/* The encoding of text for libraries. */

/* Makes UTF-8 the C locale's encoding for libraries in this thread until os_locale_restore
 * (libarchive converts names by it). Returns NULL if the system has no such locale, which
 * os_locale_restore accepts. */
struct os_locale;
struct os_locale *os_locale_utf8(void);
void os_locale_restore(struct os_locale *locale);

/* Power, and working at the lowest priority. */

/* Returns whether the machine runs on its battery now. False if it has none or the system does not
 * report it. */
bool os_on_battery(void);

/* From now on this process runs at the lowest priority for processor and disk (Linux: nice 19,
 * SCHED_IDLE, the idle class of I/O; Windows: the background mode, and slow, efficient cores). Not
 * for a process that holds locks that others wait for. */
void os_work_in_background(void);

/* PCI display devices by NVIDIA, found without the driver (sysfs; on Windows the registry). */
struct os_pci_device {
	uint32_t vendor, device;
	char bus[32]; /* "0000:01:00.0", lower case; "" if unknown */
};
/* Finds at most `most` devices. Tests replace the system's list with $JITWARM_PCI_DEVICES
 * ("10de:2484@0000:01:00.0,..."). */
int os_pci_gpus(struct jw_error *err, struct os_pci_device *devices, size_t most,
				size_t *ret_count);

/* Returns whether the system has put a device to sleep, as laptops do with a second GPU; asking its
 * driver would wake it. False if the system does not report it (Windows). */
bool os_pci_sleeps(const struct os_pci_device *device);

/* The functions that each system provides for the common part. */
enum { OS_PCI_VENDOR_NVIDIA = 0x10de };

/* The system's own list: NVIDIA's display devices (class 03xx). */
int os_pci_enumerate(struct jw_error *err, struct os_pci_device *devices, size_t most,
					 size_t *ret_count);
/* Reads a list in the form of JITWARM_PCI_DEVICES. */
int os_pci_parse(struct jw_error *err, const char *list, struct os_pci_device *devices, size_t most,
				 size_t *ret_count);
