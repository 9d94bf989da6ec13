/* Memory of the machine and of processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Total memory, and the memory available without swapping, within the limits of the machine and of
 * our control groups; false if the system does not tell. On Linux $JITWARM_SYSTEM_ROOT, if set, is
 * put before /proc and /sys in this function, os_memory_pressure and os_on_battery (os/power.h):
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
/* Uses large pages for memory not yet written to, if the system has them: page faults of 4 KiB each
 * cost as much as the writing. */
void os_prefer_large_pages(void *memory, size_t size);
/* If memory runs out, Linux ends this process before anything of the user's. */
void os_be_first_to_go(void);
