/* Memory: the machine's, and how much of it we use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory in all and what is available without swapping, as far as the machine and our control
 * groups let us have it; false where the system does not say. On Linux $JITWARM_SYSTEM_ROOT, where
 * it is set, is put before /proc and /sys in this function, os_memory_pressure and os_on_battery
 * (os/power.h): the test beds give a machine of their own that way. */
bool os_memory(uint64_t *ret_total_bytes, uint64_t *ret_available_bytes);
/* Percent of the last ten seconds in which some process waited for memory, in the whole machine or
 * in our control group (Linux' PSI); on Windows 100 while the system says that memory is short. 0
 * where nothing is known. */
double os_memory_pressure(void);

/* Resident memory of another process of ours, now. 0 where unknown. */
uint64_t os_process_resident(int pid);
/* The most that was resident of this process. 0 where unknown. */
uint64_t os_peak_resident_bytes(void);

/* Gives freed memory back to the system, where the allocator would keep it. */
void os_release_memory(void);
/* Memory that is freed stays with this process, up to so many bytes, and is taken again without
 * asking the system, which has to clear it. For a process that does the same over and over. glibc;
 * elsewhere nothing changes. */
void os_keep_memory(uint64_t most_bytes);
/* Memory that has not been written to yet comes in large pages, where the system has any: page
 * faults of 4 KiB each cost as much as the writing. */
void os_prefer_large_pages(void *memory, size_t size);
/* When memory runs out all the same, this process goes first (Linux), before anything of the
 * user's. */
void os_be_first_to_go(void);
