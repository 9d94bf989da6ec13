/* Power, and working at the lowest priority. */
#pragma once

#include <stdbool.h>

/* Whether the machine runs on its battery now. False if it has none or the system does not tell. */
bool os_on_battery(void);

/* From now on this process runs at the lowest priority for processor and disk (Linux: nice 19,
 * SCHED_IDLE, the idle class of I/O; Windows: the background mode, and slow, efficient cores). Not
 * for a process that holds locks that others wait for. */
void os_work_in_background(void);
