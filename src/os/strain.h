/* How hard the machine has it: memory and power; and how little our workers may ask of it. */
#ifndef JW_OS_STRAIN_H
#define JW_OS_STRAIN_H

#include <stdbool.h>
#include <stdint.h>

/* On Linux $JITWARM_SYSTEM_ROOT, where it is set, stands before /proc and /sys in what this header
 * declares and in os_memory: the test beds give a machine of their own that way. */

/* Percent of the last ten seconds in which some process waited for memory, in the whole machine or
 * in our control group (Linux' PSI); on Windows 100 while the system says that memory is short. 0
 * where nothing is known. */
double os_memory_pressure(void);
/* Resident memory of another process of ours, now. 0 where unknown. */
uint64_t os_process_resident(int pid);
/* When memory runs out all the same, this process goes first (Linux), before anything of the
 * user's. */
void os_be_first_to_go(void);

/* Memory that is freed stays with this process, up to so many bytes, and is taken again without
 * asking the system, which has to clear it. For a process that does the same over and over. glibc;
 * elsewhere nothing changes. */
void os_keep_memory(uint64_t most_bytes);

/* Whether the machine runs on its battery now. False where it has none or does not say. */
bool os_on_battery(void);

/* From now on this process takes what others leave over: the lowest priority for processor and disk
 * (Linux: nice 19, SCHED_IDLE, the idle class of I/O; Windows: the background mode, and slow,
 * efficient cores). Not for a process that holds locks which others want. */
void os_work_in_background(void);

#endif
